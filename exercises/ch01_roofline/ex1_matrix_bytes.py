"""Exercise 1.1: how many bytes does a matrix take, with its scales?

A weight of 4 bits cannot say how large it is by itself. Neighbours share a **scale**, one more
number of 16 bits, by which they are multiplied (chapter 08). `group_size` weights next to each
other in a row share one; the last group of a row may be shorter. Scales are never shared by rows.
Every row begins at a whole byte.
"""

import math


def matrix_bytes(rows: int, columns: int, bits: int, group_size: int | None = None) -> int:
    """Bytes of a matrix of `rows` x `columns` weights of `bits` bits (2 to 32).

    group_size: weights that share a scale of 16 bits; None: there are no scales.
    Call the two parts packed (bytes of the weights) and scales (bytes of the scales).
    """
    raise NotImplementedError("Exercise 1.1: bytes of the weights plus bytes of the scales")
