"""Reference of 7.3."""


def make_room(who, need, tables, free):
    victims, left = [], list(tables)
    while free < need:
        victim = left.pop()
        victims.append(victim)
        if victim == who:
            break
        held = {block for name in left for block in tables[name]}
        free += sum(block not in held for block in tables[victim])
    return victims
