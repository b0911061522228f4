"""Exercise 0.3: cut every row into heads.

A row of x holds H heads one after another: first the K numbers of head 0, then those of head 1.
Attention (chapter 02) wants each head by itself: [H, T, K].
"""

import torch
from torch import Tensor


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """x: float [T, H*K], H = num_heads. Returns [H, T, K]: out[h, t, k] = x[t, h*K + k].

    Without a loop (a loop is right, but slow). Give the intermediate step the name heads_THK.
    """
    raise NotImplementedError("Exercise 0.3: cut every row into heads")
