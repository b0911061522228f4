"""Other right answers of 2.3."""

import torch


def one_query_at_a_time(q_TK, k_LK, v_LK):
    rows = []
    for t, q_K in enumerate(q_TK):
        weights = (k_LK[: t + 1] @ q_K / len(q_K) ** 0.5).softmax(0)
        rows.append(weights @ v_LK[: t + 1])
    return torch.stack(rows)


def mask_added(q_TK, k_LK, v_LK):
    length, size = q_TK.shape
    mask = torch.full((length, length), -torch.inf).triu(1)
    powers = torch.exp(torch.einsum("tk,lk->tl", q_TK, k_LK) * size**-0.5 + mask)
    return torch.einsum("tl,lk->tk", powers / powers.sum(-1, keepdim=True), v_LK)
