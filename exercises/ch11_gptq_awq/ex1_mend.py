"""Exercise 11.1: two inputs that move together. Round one weight, mend with the other.

An output has two weights: y = w[0] * x[0] + w[1] * x[1]. T tokens were seen: the rows of x_T2.

1. Round w[0] to the nearest multiple of `step`. Call what was lost `error` = w[0] - rounded. The
   output of token t is now wrong by error * x[t, 0].
2. w[1] may still change. Give it the value that makes the outputs as right as they can be: the sum
   over all tokens of (wrongness)^2 is as small as possible. Do not round w[1].

Of x you need only gram_22 = x^T x, the sums of products of the two inputs.

Return three things: both weights now, float64 [2]; the sum of squares if w[1] stays as it was; and
the sum of squares with the new w[1].
"""

from torch import Tensor


def mend(w_2: Tensor, x_T2: Tensor, step: float) -> tuple[Tensor, float, float]:
    """w_2: float64 [2]. x_T2: float64 [T, 2]."""
    raise NotImplementedError("Exercise 11.1: round w[0], then choose w[1]")
