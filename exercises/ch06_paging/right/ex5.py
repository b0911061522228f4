"""Other right answers of 6.5."""

import torch


def slot_by_slot(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    out_SHK = torch.empty_like(q_SHK)
    size, share = k_pool_NPGK.shape[1], q_SHK.shape[1] // k_pool_NPGK.shape[2]
    for s in range(len(q_SHK)):
        p = torch.arange(int(len_S[s]))
        block, offset = block_table_SM[s, p // size], p % size
        for h in range(q_SHK.shape[1]):
            keys = k_pool_NPGK[block, offset, h // share]
            values = v_pool_NPGK[block, offset, h // share]
            out_SHK[s, h] = (keys @ q_SHK[s, h] * scale).softmax(0) @ values
    return out_SHK


def all_at_once(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    S, H, K = q_SHK.shape
    P, G = k_pool_NPGK.shape[1:3]
    valid_SL = torch.arange(block_table_SM.shape[1] * P) < len_S[:, None]
    k_SLGK, v_SLGK = (x[block_table_SM].flatten(1, 2) for x in (k_pool_NPGK, v_pool_NPGK))
    zero = torch.zeros(())
    v_SLGK = torch.where(valid_SL[..., None, None], v_SLGK, zero)
    q_SGrK = q_SHK.view(S, G, H // G, K) * scale
    scores = torch.einsum("sgrk,slgk->sgrl", q_SGrK, k_SLGK)
    scores = torch.where(valid_SL[:, None, None], scores, zero - torch.inf)
    return torch.einsum("sgrl,slgk->sgrk", scores.softmax(-1), v_SLGK).reshape(S, H, K)
