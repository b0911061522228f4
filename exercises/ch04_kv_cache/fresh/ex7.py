"""Exercise 4.7: a sliding window in a cache that never grows.

Some layers see only the last W tokens, the new one included. Then W rows are enough: the token at
position p takes row p % W, and so takes the place of the token that has just left the window.

One new token comes. Write its key and value, then let it attend to every row that holds a token of
the window. Before W tokens have come, the last rows are empty: they may hold NaN. The order of the
rows does not matter to softmax: positions are already in the keys (RoPE).

Write the attention yourself. Query head h reads KV head h // (H // G). Names for `trace`:

    k_LHK, v_LHK    for each query head the rows it reads, if you spread them out (L rows)
    scores_HL       q . k * scale
    probs_HL        what softmax makes of them
"""

import torch
from torch import Tensor


def attend_in_window(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale) -> Tensor:
    """k_ring, v_ring: float [W, G, K]. position: of the new token, from 0. Returns float [H, K]."""
    raise NotImplementedError("Exercise 4.7: which row to write, and how many rows to read?")
