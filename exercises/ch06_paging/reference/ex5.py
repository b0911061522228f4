"""Reference of 6.5."""

import torch


def paged_attention(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    out = []
    share = q_SHK.shape[1] // k_pool_NPGK.shape[2]
    for q_HK, table_M, length in zip(q_SHK, block_table_SM, len_S.tolist()):
        k_LGK = k_pool_NPGK[table_M].flatten(0, 1)[:length]
        v_LGK = v_pool_NPGK[table_M].flatten(0, 1)[:length]
        k_LHK, v_LHK = (x.repeat_interleave(share, dim=1) for x in (k_LGK, v_LGK))
        scores_HL = torch.einsum("hk,lhk->hl", q_HK, k_LHK) * scale
        probs_HL = scores_HL.softmax(-1)
        out.append(torch.einsum("hl,lhk->hk", probs_HL, v_LHK))
    return torch.stack(out)
