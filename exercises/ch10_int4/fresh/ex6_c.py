"""Exercise 10.6: find the fault.

Users say: int4 works on every model but one. That one has matrices of 288 columns, and it was coded
in groups of 256. Its answers look like a random model's, and no error is raised.

`dequantise` makes the matrix from codes and scales, which lie as in 10.2. Find the fault and mend
it. Matrices that were right must not change.
"""

import torch
from torch import Tensor


def dequantise(codes_NK: Tensor, scale_NG: Tensor, group: int) -> Tensor:
    """int8 codes [N, K], float32 scales [N, ceil(K / group)] -> float32 [N, K]."""
    N, K = codes_NK.shape
    last = max(K // group, 1) - 1
    group_K = (torch.arange(K) // group).clamp(max=last)
    scale_NK = scale_NG[:, group_K]
    return codes_NK * scale_NK
