"""Other right answers of 7.3."""

from collections import Counter


def counts_holders(who, need, tables, free):
    holders = Counter(block for table in tables.values() for block in table)
    victims = []
    for name in reversed(list(tables)):
        if free >= need:
            break
        victims.append(name)
        if name == who:
            break
        for block in tables[name]:
            holders[block] -= 1
            free += holders[block] == 0
    return victims


def tries_every_number(who, need, tables, free):
    order = list(tables)
    everything = {b for table in tables.values() for b in table}
    for count in range(order[::-1].index(who) + 1):
        kept = {b for name in order[: len(order) - count] for b in tables[name]}
        if free + len(everything - kept) >= need:
            return order[::-1][:count]
    return order[::-1][: order[::-1].index(who) + 1]
