"""Reference of 4.7."""

import torch


def attend_in_window(k_ring, v_ring, position, q_HK, k_GK, v_GK, scale):
    window, share = k_ring.shape[0], q_HK.shape[0] // k_GK.shape[0]
    k_ring[position % window], v_ring[position % window] = k_GK, v_GK
    held = min(position + 1, window)
    k_LHK = k_ring[:held].repeat_interleave(share, dim=1)
    v_LHK = v_ring[:held].repeat_interleave(share, dim=1)
    scores_HL = torch.einsum("hk,lhk->hl", q_HK, k_LHK) * scale
    probs_HL = scores_HL.softmax(-1)
    return torch.einsum("hl,lhk->hk", probs_HL, v_LHK)
