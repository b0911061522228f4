"""Exercise 4.2: append new keys and values to the cache, then attend.

The cache of one layer is two strips, k_strip and v_strip. The first `length` rows hold earlier
tokens. The rest is empty: it may hold NaN.

1. Write the T new keys and values behind the earlier ones (this changes the strips).
2. Let every new query attend: query t is at position length + t. It sees the keys of positions
   0 to length + t, also those of the new tokens before it, and itself.
   Query head h reads KV head h // (H // G).

Write the attention yourself: softmax(q . k * scale) times v. L is length + T. Names for `trace`:

    k_LHK, v_LHK    for each query head the keys and values it reads, if you spread them out
    scores_HTL      after the mask: -inf where a query may not look
    probs_HTL       what softmax makes of them
"""

import torch
from torch import Tensor


def append_and_attend(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale) -> Tensor:
    """k_strip, v_strip: float [max_len, G, K]. length: int. Returns float [T, H, K]."""
    raise NotImplementedError("Exercise 4.2: write the new rows, then attend to all rows in use")
