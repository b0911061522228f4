"""Exercise 12.6: find the fault.

Users say: no error, and yet the other program is better at the same share of zeros. The masks
differ in layers with inputs that are 0 in every token: ours keeps weights there that nothing ever
reads.

`cheapest_mask` chooses what to drop. hessian_KK is H = X^T X of the inputs. A weight's score is
w^2 / (H^-1)[k, k]: what dropping it alone costs, if all others mend it. An input that was 0 in all
tokens is dead: no output feels its weights, so their score is exactly 0. Without the rows and
columns of dead inputs H has an inverse.

In every row exactly floor(sparsity * K + 0.5) weights are dropped, those with the smallest scores;
of equal scores the one further left first. Return True where a weight stays. Find the fault and
mend it. Masks that were right must not change.
"""

import torch
from torch import Tensor


def cheapest_mask(weight_NK: Tensor, hessian_KK: Tensor, sparsity: float) -> Tensor:
    """float64 [N, K], float64 [K, K], 0 <= sparsity <= 1 -> bool [N, K]."""
    N, K = weight_NK.shape
    count = int(sparsity * K + 0.5)
    whole_KK = hessian_KK.clone()
    dead_K = hessian_KK.diagonal() == 0
    whole_KK.diagonal()[dead_K] = hessian_KK.diagonal().mean().clamp(min=1e-12)
    score_NK = weight_NK**2 / whole_KK.inverse().diagonal()
    order_NK = score_NK.argsort(dim=1, stable=True)
    mask_NK = torch.ones_like(weight_NK, dtype=torch.bool)
    return mask_NK.scatter(1, order_NK[:, :count], False)
