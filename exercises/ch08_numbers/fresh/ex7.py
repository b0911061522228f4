"""Exercise 8.7: find the fault.

Users say: the model is fine on most checkpoints. On one whose unused rows were pruned, every answer
is NaN, from the first token on. `through_int4` returns the weights as int4 groups hold them: max
|w| of a group has code 7 or -7, all others are rounded to the nearest code, times the scale. Find
the fault and mend it. Weights that were right must not change. K is a multiple of `group`.
"""

import torch
from torch import Tensor


def through_int4(weight_NK: Tensor, group: int) -> Tensor:
    """float32 [N, K] -> float32 [N, K]."""
    grouped_NGg = weight_NK.unflatten(1, (-1, group))
    scale_NG1 = grouped_NGg.abs().amax(-1, keepdim=True) / 7
    codes_NGg = torch.round(grouped_NGg / scale_NG1).clamp(-8, 7)
    return (codes_NGg * scale_NG1).flatten(1)
