"""Exercise 6.9: find the fault.

Users say: on the first day all is well. Some hours later some answers become nan. Only some
requests, and only while their text has certain lengths.

The task is that of 6.5: S requests bring one query each, row s of block_table_SM names the blocks
of request s, and it has len_S[s] tokens. All requests are computed at once here, without a loop:
the places behind a request's end are marked in empty_SL. L is M * P, all slots of a table row.

What lies in slots without a token, old numbers, inf or NaN, must not change a result. It does. Find
the fault and mend it. (The pools are read only.)
"""

import torch
from torch import Tensor


def paged_attention(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale) -> Tensor:
    """Returns float [S, H, K]."""
    S, H, K = q_SHK.shape
    P, G = k_pool_NPGK.shape[1:3]
    k_SLGK = k_pool_NPGK[block_table_SM].flatten(1, 2)
    v_SLGK = v_pool_NPGK[block_table_SM].flatten(1, 2)
    empty_SL = torch.arange(block_table_SM.shape[1] * P) >= len_S[:, None]
    q_SGrK = q_SHK.view(S, G, H // G, K) * scale
    scores_SGrL = torch.einsum("sgrk,slgk->sgrl", q_SGrK, k_SLGK)
    scores_SGrL = scores_SGrL.masked_fill(empty_SL[:, None, None], float("-inf"))
    probs_SGrL = scores_SGrL.softmax(-1)
    return torch.einsum("sgrl,slgk->sgrk", probs_SGrL, v_SLGK).reshape(S, H, K)
