"""Exercise 9.1: a linear layer that holds its weights in int8.

When it is made, it codes the weights, one scale a row of the matrix:

    scale of a row = largest |w| of the row / 127        (a row of zeros: 1)
    code = w / scale, rounded to the nearest whole number

It keeps `codes_NK` (int8) and `scale_N1` (float32), the bias, and NO other copy of the weights. A
call computes x W^T + bias, with W = codes * scale. Converting the codes inside the call is fine
here (9.6 does better). Call the float matrix weight_NK there, for `trace`.
"""

import torch
from torch import Tensor


class QuantLinear:
    def __init__(self, weight_NK: Tensor, bias_N: Tensor | None):
        """weight_NK: float32, N outputs, K inputs. bias_N: float32, or None."""
        raise NotImplementedError("Exercise 9.1: keep codes_NK, scale_N1 and bias_N")

    def __call__(self, x_TK: Tensor) -> Tensor:
        """Returns float32 [T, N]."""
        raise NotImplementedError("Exercise 9.1: x W^T + bias")
