"""Other right answers of 11.6."""


def by_going_down(rows, products, choices, **texts):
    """From 8 bits down, as long as the floor holds."""
    found = []
    for columns, floor in products:
        bits = 8
        for fewer in (4, 3, 2):
            if any(rows[fewer][c] < floor for c in columns):
                break
            bits = fewer
        found.append(bits)
    return next(letter for letter, three in choices.items() if list(three) == found)


def by_crossing_out(rows, products, choices, **texts):
    """Of the options in which all floors hold, the one with the fewest bits in all."""
    holds = lambda bits, p: all(rows[bits][c] >= p[1] for c in p[0])
    good = {k: sum(three) for k, three in choices.items() if all(map(holds, three, products))}
    return min(good, key=good.get)
