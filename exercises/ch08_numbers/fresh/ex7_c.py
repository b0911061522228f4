"""Exercise 8.7: find the fault.

Users say: the model is fine on most checkpoints. On one, where a few columns are much larger than
the others, smaller groups do not help: every row is as coarse as with one scale. `through_int4`
returns the weights as int4 groups hold them: `group` neighbours of a row share a scale, max |w| of
a group has code 7 or -7, all others are rounded to the nearest code, times the scale. Find the
fault and mend it. Weights that were right must not change. K is a multiple of `group`.
"""

import torch
from torch import Tensor


def through_int4(weight_NK: Tensor, group: int) -> Tensor:
    """float32 [N, K] -> float32 [N, K]."""
    grouped_NgG = weight_NK.unflatten(1, (group, -1))
    scale_N1G = grouped_NgG.abs().amax(1, keepdim=True) / 7
    scale_N1G = torch.where(scale_N1G == 0, 1.0, scale_N1G)
    codes_NgG = torch.round(grouped_NgG / scale_N1G).clamp(-8, 7)
    return (codes_NgG * scale_N1G).flatten(1)
