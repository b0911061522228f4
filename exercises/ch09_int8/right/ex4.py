"""Other right answers of 9.4."""

import torch


def by_int_mm(x_TK, codes_NK, scale_N):
    largest = x_TK.abs().max(dim=-1, keepdim=True).values
    scale_T1 = torch.where(largest > 0, largest / 127, torch.ones_like(largest))
    q_TK = torch.round(x_TK / scale_T1).clamp(-127, 127).to(torch.int8)
    sum_TN = torch._int_mm(q_TK, codes_NK.T)
    return sum_TN, sum_TN.float() * (scale_T1 * scale_N[None])


def token_by_token(x_TK, codes_NK, scale_N):
    sums, outs = [], []
    for x_K in x_TK:
        scale = x_K.abs().max() / 127
        q_K = (x_K / scale).round().long() if scale > 0 else torch.zeros_like(x_K).long()
        sums.append((codes_NK.long() * q_K).sum(1).int())
        outs.append(sums[-1] * scale * scale_N)
    return torch.stack(sums), torch.stack(outs)
