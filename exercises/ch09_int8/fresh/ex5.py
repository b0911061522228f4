"""Exercise 9.5: outliers take another way (LLM.int8(), Dettmers et al. 2022).

One very large activation makes the scale of its whole token coarse. In real models it comes in the
same few columns for all tokens. So split the product by columns of x:

1. A column is an outlier if ANY token has |x| > threshold there.
2. Outlier columns are multiplied in float32: x times (codes * scale).
3. All other columns as in 9.4 (int8 codes, one scale a token, taken WITHOUT the outliers).
4. Add both parts.

There may be no outlier column at all, or nothing but outliers.
"""

import torch
from torch import Tensor


def split_linear(x_TK: Tensor, codes_NK: Tensor, scale_N: Tensor, threshold: float) -> Tensor:
    """float32 [T, K], int8 [N, K], float32 [N] -> float32 [T, N]. W[n] = codes[n] * scale[n]."""
    raise NotImplementedError("Exercise 9.5: outlier columns in float, the others in int8")
