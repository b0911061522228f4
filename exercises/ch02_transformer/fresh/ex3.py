"""Exercise 2.3: causal attention, one head.

Every token has a query, a key and a value. Token t asks all tokens up to itself:

    score of key s  = (q[t] . k[s]) / sqrt(K)         s = 0, 1, ..., t; later keys: -infinity
    weights         = softmax of the scores           positive, they sum to 1
    output of t     = sum over s of weight[s] * v[s]

Write it without PyTorch's own attention (`scaled_dot_product_attention` is refused here).
"""

import torch
from torch import Tensor


def attention(q_TK: Tensor, k_LK: Tensor, v_LK: Tensor) -> Tensor:
    """q_TK: [T, K]. k_LK, v_LK: [L, K], here with L = T. Returns [T, K].

    Names that `trace` looks at: scores_TL (scaled, and -inf where a query may not look),
    weights_TL (after softmax).
    """
    raise NotImplementedError("Exercise 2.3: scores, mask, softmax, weighted sum")
