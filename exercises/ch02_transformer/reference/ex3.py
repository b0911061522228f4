"""Reference of 2.3."""

import torch


def attention(q_TK, k_LK, v_LK):
    scores_TL = q_TK @ k_LK.T / q_TK.shape[-1] ** 0.5
    allowed_TL = torch.ones_like(scores_TL, dtype=torch.bool).tril()
    scores_TL = scores_TL.masked_fill(~allowed_TL, -torch.inf)
    weights_TL = scores_TL.softmax(-1)
    return weights_TL @ v_LK
