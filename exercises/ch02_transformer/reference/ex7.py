"""Reference of 2.7."""

import torch


def multi_head(q_TO, k_TO, v_TO, num_heads):
    length, size = q_TO.shape[0], q_TO.shape[1] // num_heads
    q_HTK = q_TO.reshape(length, num_heads, size).transpose(0, 1)
    k_HLK = k_TO.reshape(length, num_heads, size).transpose(0, 1)
    v_HLK = v_TO.reshape(length, num_heads, size).transpose(0, 1)
    scores_HTL = q_HTK @ k_HLK.transpose(1, 2) / size**0.5
    future_TL = torch.ones(length, length, dtype=torch.bool).triu(1)
    weights_HTL = scores_HTL.masked_fill(future_TL, -torch.inf).softmax(-1)
    out_HTK = weights_HTL @ v_HLK
    return out_HTK.transpose(0, 1).reshape(length, num_heads * size)
