"""Exercise 2.7, a hunt: right with one token, wrong with two.

The report: "Multi-head attention. All shapes fit and nothing crashes. With one token the output is
right. With two or more it is wrong, and the model writes nonsense."

Find the fault and mend it. Columns h*K .. h*K + K-1 of q, k and v belong to head h; so do those of
the output.
"""

import torch
from torch import Tensor


def multi_head(q_TO: Tensor, k_TO: Tensor, v_TO: Tensor, num_heads: int) -> Tensor:
    """q_TO, k_TO, v_TO: [T, H*K]. Causal attention in each head. Returns [T, H*K]."""
    length, size = q_TO.shape[0], q_TO.shape[1] // num_heads
    q_HTK = q_TO.reshape(num_heads, length, size)
    k_HLK = k_TO.reshape(num_heads, length, size)
    v_HLK = v_TO.reshape(num_heads, length, size)
    scores_HTL = q_HTK @ k_HLK.transpose(1, 2) / size**0.5
    future_TL = torch.ones(length, length, dtype=torch.bool).triu(1)
    weights_HTL = scores_HTL.masked_fill(future_TL, -torch.inf).softmax(-1)
    out_HTK = weights_HTL @ v_HLK
    return out_HTK.transpose(0, 1).reshape(length, num_heads * size)
