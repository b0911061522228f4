"""Exercise 11.2: GPTQ (Frantar et al. 2023). Exercise 11.1, column by column.

A layer has K inputs. Its H = X^T X is [K, K], and H^-1 = U^T U with U upper triangular. U is given.
Row k of U says how the columns after k can make good what column k lost, as well as they can
together. (For two inputs it is 11.1: -U[0, 1] / U[0, 0] = G01 / G11. U[0, 1] is negative when the
inputs go together, so the minus in step 3 adds.)

1. Round column k with round_column(column_N, k): it returns the rounded values.
2. error_N = (column - rounded) / U[k, k].
3. Every column j > k becomes column j - error_N * U[k, j].
4. Go on with column k + 1, as it is NOW.

Return the rounded matrix, and leave weight_NK as it is.

Names for `trace`: work_NK, rounded_NK, error_N.
"""

from collections.abc import Callable

from torch import Tensor


def gptq_columns(
    weight_NK: Tensor, upper_KK: Tensor, round_column: Callable[[Tensor, int], Tensor]
) -> Tensor:
    """float64 [N, K] and [K, K] -> float64 [N, K]: each column rounded once, left to right."""
    raise NotImplementedError("Exercise 11.2: round a column, mend those after it")
