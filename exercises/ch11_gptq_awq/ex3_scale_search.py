"""Exercise 11.3: AWQ (Lin et al. 2024). Which factor should each input get?

(W s) (x / s) = W x. A column of W that is made larger before rounding loses less to rounding. The
division by s costs nothing: it moves into the norm that makes x. Which s? Try some:

1. mean_K = mean of |x| over the tokens. For each alpha: s_K = mean_K ** alpha. An input that is
   always 0 has no size: leave it out here and in step 2, and give it s = 1 at the end.
2. Divide s_K by sqrt(largest * smallest of s_K). Now these two are each other's inverse. (With one
   scale a row a common factor of s changes no error; this only keeps the numbers near 1.)
3. coded_NK = round_matrix(weight_NK * s_K). The layer then computes with coded_NK / s_K.
4. error: the sum of squares of the difference of the OUTPUTS, with weight_NK and with this.

Keep the alpha with the smallest error. Return alpha; its coded_NK, which is what will be stored;
and the weight of the norm after the fold, norm_K / s_K.

Names for `trace`: mean_K, s_K, coded_NK (of the last alpha).
"""

from collections.abc import Callable

from torch import Tensor


def scale_search(
    weight_NK: Tensor,
    x_TK: Tensor,
    norm_K: Tensor,
    alphas: list[float],
    round_matrix: Callable[[Tensor], Tensor],
) -> tuple[float, Tensor, Tensor]:
    """All float64; norm_K is the weight of the norm that made x_TK."""
    raise NotImplementedError("Exercise 11.3: try every alpha, keep the best")
