"""Exercise 10.2: a linear layer that holds its weights in 4 bits.

It is made from words (the layout of 10.1) and scales. Column k of a row belongs to group
k // group, so the last group of a row may be shorter. A weight is code * scale of its group.

A call computes x W^T. The layer keeps words and scales, and nothing that is as large as the matrix:
neither its codes nor its values. Unpacking everything inside the call is fine here. The check
counts the bytes that the layer holds, and has room for a float32 copy of the scales.

The scales are bfloat16, which has 8 significant bits. Make them float32 BEFORE you multiply, or the
weights are rounded once more. unpack(words_NW, 4, K) below is the package's answer to 10.1.
"""

import torch
from torch import Tensor

from minillm.compress.packing import unpack


class Int4Linear:
    def __init__(self, words_NW: Tensor, scale_NG: Tensor, group: int, K: int):
        """words_NW: int32. scale_NG: bfloat16, G = ceil(K / group). K: columns of the matrix."""
        raise NotImplementedError("Exercise 10.2: keep words and scales")

    def __call__(self, x_TK: Tensor) -> Tensor:
        """float32 [T, K] -> float32 [T, N]. Call the codes codes_NK and the values weight_NK."""
        raise NotImplementedError("Exercise 10.2: x W^T")
