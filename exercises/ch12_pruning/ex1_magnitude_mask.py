"""Exercise 12.1: drop the weights that are nearest to 0.

`sparsity` is the share of zeros that is wanted. Of n weights, exactly

    count = floor(sparsity * n + 0.5)

are dropped: those with the smallest |w|. Where several are equally near to 0, the one that comes
first is dropped first (row by row, from left to right). The whole matrix is one list: one row may
lose more weights than another.

Return a mask: True where a weight stays, False where it is dropped.

Think before you use a threshold: weights that were rounded to int4 have few different sizes.

Names for `trace`: count, order.
"""

import torch
from torch import Tensor


def magnitude_mask(weight_NK: Tensor, sparsity: float) -> Tensor:
    """float32 [N, K], 0 <= sparsity <= 1 -> bool [N, K]."""
    raise NotImplementedError("Exercise 12.1: find the `count` weights nearest to 0")
