"""Reference of 6.9."""

import torch


def paged_attention(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    S, H, K = q_SHK.shape
    P, G = k_pool_NPGK.shape[1:3]
    k_SLGK = k_pool_NPGK[block_table_SM].flatten(1, 2)
    v_SLGK = v_pool_NPGK[block_table_SM].flatten(1, 2)
    empty_SL = torch.arange(block_table_SM.shape[1] * P) >= len_S[:, None]
    v_SLGK = v_SLGK.masked_fill(empty_SL[:, :, None, None], 0.0)
    q_SGrK = q_SHK.view(S, G, H // G, K) * scale
    scores_SGrL = torch.einsum("sgrk,slgk->sgrl", q_SGrK, k_SLGK)
    scores_SGrL = scores_SGrL.masked_fill(empty_SL[:, None, None], float("-inf"))
    probs_SGrL = scores_SGrL.softmax(-1)
    return torch.einsum("sgrl,slgk->sgrk", probs_SGrL, v_SLGK).reshape(S, H, K)
