"""Exercise 9.3: keys and values in int8.

This strip holds the keys (or values) of one layer. `append` codes the new tokens, with one scale
for each token AND each head:

    scale[t, g] = largest |x[t, g, :]| / 127        (all zeros: 1)
    code = x / scale, rounded

What is coded once stays as it is: later tokens must not touch it. `read` returns all tokens so far
as float32. The strip holds int8 codes and float32 scales, and no float copy of the numbers.
"""

import torch
from torch import Tensor


class Int8Strip:
    def __init__(self, max_len: int, G: int, K: int):
        """Room for max_len tokens, G heads of size K."""
        raise NotImplementedError("Exercise 9.3: reserve codes and scales")

    def append(self, x_TGK: Tensor) -> None:
        """Code and keep T new tokens, float32."""
        raise NotImplementedError("Exercise 9.3: one scale a token and head")

    def read(self) -> Tensor:
        """Returns float32 [length, G, K]."""
        raise NotImplementedError("Exercise 9.3: codes times scales")
