"""Reference of 4.2."""

import torch


def append_and_attend(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, scale):
    end = length + k_TGK.shape[0]
    k_strip[length:end], v_strip[length:end] = k_TGK, v_TGK
    share = q_THK.shape[1] // k_TGK.shape[1]
    k_LHK = k_strip[:end].repeat_interleave(share, dim=1)
    v_LHK = v_strip[:end].repeat_interleave(share, dim=1)
    hidden_TL = torch.arange(end) > torch.arange(length, end)[:, None]
    scores_HTL = torch.einsum("thk,lhk->htl", q_THK, k_LHK) * scale
    scores_HTL = scores_HTL.masked_fill(hidden_TL, -torch.inf)
    probs_HTL = scores_HTL.softmax(-1)
    return torch.einsum("htl,lhk->thk", probs_HTL, v_LHK)
