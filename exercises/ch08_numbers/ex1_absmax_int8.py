"""Exercise 8.1: a tensor in int8, by its largest absolute value.

One scale for the whole tensor: the value with the largest |x| gets code 127 or -127. All others are
rounded to the nearest whole number of steps. (No x is all zeros here.) A name for `trace`: scale.
"""

import torch
from torch import Tensor


def absmax_int8(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x: float32. Returns int8 codes, the scale (float32 [], one number), and codes * scale."""
    raise NotImplementedError("Exercise 8.1: which number is one step?")
