"""Exercise 8.2: int8 for values that lie mostly on one side.

Use all 256 codes, 0 to 255, for the range of x. The range always includes 0, also where every x is
above 0 or every x is below. `zero` is the code of the value 0: so a 0 stays exactly 0.

value = (code - zero) * scale. (No x is all zeros here.) Take care: uint8 has no numbers below 0.

Names for `trace`: scale, zero.
"""

import torch
from torch import Tensor


def asymmetric_uint8(x: Tensor) -> tuple[Tensor, Tensor, int, Tensor]:
    """x: float32. Returns uint8 codes, scale (float32 []), zero (an int), and the values again."""
    raise NotImplementedError("Exercise 8.2: low and high, then the step, then the code of 0")
