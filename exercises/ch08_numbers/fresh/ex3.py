"""Exercise 8.3: int4 with one scale for each group of neighbours.

Cut each row into groups of `group` columns (the last one may be shorter). Each group has its own
scale: its largest |w| gets code 7 or -7. (No group is all zeros here.)

Names for `trace`: scale_NG, codes_NK (the first two results).
"""

import torch
from torch import Tensor


def int4_groups(weight_NK: Tensor, group: int) -> tuple[Tensor, Tensor, Tensor]:
    """float32 [N, K] -> int8 codes [N, K], float32 scales [N, G], and the values again [N, K]."""
    raise NotImplementedError("Exercise 8.3: one scale for each group of each row")
