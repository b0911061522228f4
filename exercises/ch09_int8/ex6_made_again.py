"""Exercise 9.6: this layer stores int8, and is slower than float32. Mend it.

Every call makes the float matrix again: all of it is written to memory, then read. The check counts
the bytes that operations make in a call. Allowed: 16 bytes for each number of x and of the result.
That is far less than one matrix. The layer may hold 1.5 bytes a weight, no more: so a float copy
that is kept is not allowed either.

Use a product that reads the codes: torch._weight_int8pack_mm(x, codes, scales). It wants x
bfloat16 [T, K], codes int8 [N, K], scales bfloat16 [N], all contiguous, and K divisible by 16 (it
does not check that; here it always is). It returns bfloat16 [T, N]. Its rounding is allowed.
"""

import torch
from torch import Tensor


class Int8Linear:
    def __init__(self, codes_NK: Tensor, scale_N: Tensor):
        """codes_NK: int8. scale_N: float32, one scale a row."""
        self.codes_NK, self.scale_N = codes_NK, scale_N

    def __call__(self, x_TK: Tensor) -> Tensor:
        """float32 [T, K] -> float32 [T, N]."""
        weight_NK = self.codes_NK.float() * self.scale_N[:, None]
        return x_TK @ weight_NK.T
