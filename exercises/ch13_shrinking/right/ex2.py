"""Other right answers of 13.2."""

import torch


def by_views(q_QD, k_UD, v_UD, o_DQ, importance_H, head_size, heads, kv_heads):
    """Matrices as [G, H / G, K, D], and torch's stable sort."""
    K, (width, G) = head_size, (q_QD.shape[1], k_UD.shape[0] // head_size)
    score_GS = torch.tensor(importance_H, dtype=torch.float64).view(G, -1)
    if kv_heads not in range(1, G + 1) or heads % kv_heads:
        raise ValueError("not so many KV heads, or not equally many query heads of each")
    if heads // kv_heads not in range(1, score_GS.shape[1] + 1):
        raise ValueError("not so many query heads of a KV head")
    best = lambda s, n: s.sort(dim=-1, descending=True, stable=True).indices[..., :n].sort()[0]
    groups = best(score_GS.sum(1), kv_heads)
    kept_GS = best(score_GS[groups], heads // kv_heads)
    pick = lambda x_GSKD: torch.stack([x_GSKD[g, s] for g, s in zip(groups, kept_GS)])
    q_new = pick(q_QD.view(G, -1, K, width)).reshape(-1, width)
    o_new = pick(o_DQ.T.reshape(G, -1, K, width)).reshape(-1, width).T
    return (
        q_new,
        k_UD.view(G, K, -1)[groups].flatten(0, 1),
        v_UD.view(G, K, -1)[groups].flatten(0, 1),
        o_new,
    )


def by_masks(q_QD, k_UD, v_UD, o_DQ, importance_H, head_size, heads, kv_heads):
    """A head stays if few enough of its group come before it."""
    H, G = len(importance_H), len(k_UD) // head_size
    size = H // G
    if heads < 1 or kv_heads < 1 or kv_heads > G or heads % kv_heads or heads > kv_heads * size:
        raise ValueError("cannot remain")
    total = [sum(importance_H[g * size : (g + 1) * size]) for g in range(G)]
    ahead = lambda score, i, rivals: sum((score[j], -j) > (score[i], -i) for j in rivals)
    alive = [ahead(total, g, range(G)) < kv_heads for g in range(G)]
    groups = [range(h // size * size, h // size * size + size) for h in range(H)]
    stays = [
        alive[h // size] and ahead(importance_H, h, groups[h]) < heads // kv_heads for h in range(H)
    ]
    rows_Q = torch.tensor(stays).repeat_interleave(head_size)
    rows_U = torch.tensor(alive).repeat_interleave(head_size)
    return q_QD[rows_Q], k_UD[rows_U], v_UD[rows_U], o_DQ[:, rows_Q]
