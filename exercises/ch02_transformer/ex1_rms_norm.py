"""Exercise 2.1: RMSNorm.

Every token is a row of D numbers. Bring each row to the same typical size, then weight it:

    y = x / sqrt(mean(x * x) + eps) * weight

The mean goes over the D numbers of one row. `eps` keeps a row of zeros from a division by zero.
Rows in float16 come too. There 300 * 300 is too large (the limit is 65,504), so: compute in
float32, and give back the dtype of x.
"""

import torch
from torch import Tensor


def rms_norm(x_TD: Tensor, weight_D: Tensor, eps: float) -> Tensor:
    """x_TD: [T, D], float32 or float16. weight_D: [D], the same dtype. Returns [T, D], same dtype.

    Names that `trace` looks at: wide_TD (x in float32), scale_T1 (one factor a row, [T, 1]).
    """
    raise NotImplementedError("Exercise 2.1: bring every row to the same size")
