"""Other right answers of 10.3."""


def with_exact_count(memory, slack, tokens, group):
    """The published number of weights, and whole floats."""
    free = [(memory - slack) * 1e9 - 70_553_706_496 * b for b in (1 + 2 / 8192, 0.5 + 2 / group)]
    return tuple(float(int(x / (327_680 * tokens))) for x in free)


def by_bits(memory, slack, tokens, group):
    seats = []
    for bits in (8 + 16 / 8192, 4 + 16 / group):
        count = 0
        while 70.55e9 * bits / 8 + slack * 1e9 + (count + 1) * tokens * 327_680 <= memory * 1e9:
            count += 1
        seats.append(count)
    return seats
