"""Exercise 12.2: Wanda (Sun et al. 2024). A small weight on a large input is not small.

The output is the sum of weight times input. So judge weights by both. T tokens were seen: the rows
of x_TK are the inputs of the layer.

1. norm_K: the norm of each input over the tokens, sqrt(sum of x^2).
2. score_NK = |weight| * norm of its input.
3. In EVERY row drop exactly floor(sparsity * K + 0.5) weights, those with the smallest scores. Of
   equal scores the one further left is dropped first.

Return a mask: True where a weight stays, False where it is dropped.

Names for `trace`: norm_K, score_NK, count.
"""

import torch
from torch import Tensor


def wanda_mask(weight_NK: Tensor, x_TK: Tensor, sparsity: float) -> Tensor:
    """float64 [N, K], float64 [T, K], 0 <= sparsity <= 1 -> bool [N, K]."""
    raise NotImplementedError("Exercise 12.2: score each weight, drop as many in every row")
