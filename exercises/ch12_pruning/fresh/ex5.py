"""Exercise 12.5: SparseGPT (Frantar and Alistarh 2023), one column. Drop, and mend with the rest.

As in 11.2: a layer has K inputs, H = X^T X is [K, K], and H^-1 = U^T U with U upper triangular. U
is given. The columns before k are done. Now it is the turn of column k. work_NK is the matrix as it
is by now, w_N its column k.

1. cost_N = (w_N / U[k, k])^2. This is what it costs to drop the weight of a row: by so much the
   sum of (wrongness of the output)^2 over all tokens grows, if the columns after k mend it as well
   as they can. It is the price w^2 / (H^-1)[k, k] for an H of the columns from k on: U[k, k]^2 is
   that (H^-1)[k, k]. Of a block of columns SparseGPT drops the weights with the smallest cost.
2. The choice is made: drop_N is True in the rows whose weight in column k is dropped. There it
   becomes 0, and error_N = w_N / U[k, k]. In all other rows it stays, and error_N is 0.
3. Every column j > k becomes column j - error_N * U[k, j].

Return the new matrix, and cost_N for all rows. Leave work_NK as it is.

Names for `trace`: cost_N, error_N, new_NK.
"""

import torch
from torch import Tensor


def drop_and_mend(
    work_NK: Tensor, upper_KK: Tensor, k: int, drop_N: Tensor
) -> tuple[Tensor, Tensor]:
    """float64 [N, K], float64 [K, K], column k, bool [N] -> float64 [N, K], float64 [N]."""
    raise NotImplementedError("Exercise 12.5: drop in one column, mend those after it")
