"""Other right mends of 6.9."""

import torch


def first_slot_instead(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """Places behind the end read the first token: a real number, and its weight is 0."""
    S, H, K = q_SHK.shape
    P, G = k_pool_NPGK.shape[1:3]
    place_L = torch.arange(block_table_SM.shape[1] * P)
    slots_SL = block_table_SM[:, place_L // P] * P + place_L % P
    empty_SL = place_L >= len_S[:, None]
    slots_SL = torch.where(empty_SL, slots_SL[:, :1], slots_SL)
    k_SLGK, v_SLGK = (x.flatten(0, 1)[slots_SL] for x in (k_pool_NPGK, v_pool_NPGK))
    scores = torch.einsum("sgrk,slgk->sgrl", q_SHK.view(S, G, -1, K), k_SLGK) * scale
    probs = scores.masked_fill(empty_SL[:, None, None], -torch.inf).softmax(-1)
    return torch.einsum("sgrl,slgk->sgrk", probs, v_SLGK).reshape(S, H, K)


def request_by_request(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    out = []
    for s, length in enumerate(len_S.tolist()):
        k, v = (x[block_table_SM[s]].flatten(0, 1)[:length] for x in (k_pool_NPGK, v_pool_NPGK))
        q_GrK = q_SHK[s].view(k.shape[1], -1, k.shape[2])
        probs = (torch.einsum("grk,lgk->grl", q_GrK, k) * scale).softmax(-1)
        out.append(torch.einsum("grl,lgk->grk", probs, v).flatten(0, 1))
    return torch.stack(out)
