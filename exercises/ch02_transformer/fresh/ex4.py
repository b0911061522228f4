"""Exercise 2.4: which key/value head serves query head h?

There are H query heads but only G key/value heads; H is a multiple of G. Neighbours share: the
first H/G query heads read key/value head 0, the next H/G read head 1, and so on.

Lay the heads out so that query head h finds its own at index h. (With H = 4 and G = 2 the heads
A, B become A, A, B, B.)
"""

import torch
from torch import Tensor


def kv_for_queries(kv_LGK: Tensor, num_heads: int) -> Tensor:
    """kv_LGK: [L, G, K]. num_heads: H. Returns [L, H, K]: at index h what query head h reads."""
    raise NotImplementedError("Exercise 2.4: give every query head its key/value head")
