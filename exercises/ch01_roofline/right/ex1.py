"""Other right answers of 1.1."""

import math


def with_ceil(rows, columns, bits, group_size=None):
    groups = 0 if group_size is None else math.ceil(columns / group_size)
    return rows * (math.ceil(columns * bits / 8) + 2 * groups)


def by_counting(rows, columns, bits, group_size=None):
    full, rest = divmod(columns * bits, 8)
    row = full + (rest > 0)
    if group_size is not None:
        row += 2 * len(range(0, columns, group_size))
    return rows * row
