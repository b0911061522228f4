"""Exercise 4.1: do the keys and values of earlier tokens change when a token is appended?

`kv_of(tokens_T, causal)` runs a small model and returns its keys and values, float64
[layers, 2, T, G, K] (index 0 of the second dimension is K, index 1 is V). With causal=True a token
sees only itself and the tokens before it. With causal=False it sees all of them.

Append `new_token` (a whole number) to `tokens_T`. For each layer, find the largest absolute change
of any key or value of the EARLIER tokens. Call the keys and values before and after
kv_before, kv_after.
"""

import torch
from torch import Tensor


def largest_change(kv_of, tokens_T: Tensor, new_token: int) -> Tensor:
    """tokens_T: int64 [T]. Returns float64 [2, layers]: row 0 with the mask, row 1 without."""
    raise NotImplementedError("Exercise 4.1: compare kv_of before and after the new token")
