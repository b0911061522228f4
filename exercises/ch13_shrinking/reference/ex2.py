"""Reference of 13.2."""


def drop_heads(q_QD, k_UD, v_UD, o_DQ, importance_H, head_size, heads, kv_heads):
    G = len(k_UD) // head_size
    size = len(importance_H) // G  # query heads of a group
    per_group = heads // kv_heads if kv_heads > 0 else 0
    if not (1 <= kv_heads <= G and 1 <= per_group <= size and heads == per_group * kv_heads):
        raise ValueError(f"{heads} query heads and {kv_heads} KV heads cannot remain")
    best = lambda scores, n: sorted(sorted(scores, key=lambda i: (-scores[i], i))[:n])
    group = lambda g: {h: importance_H[h] for h in range(g * size, (g + 1) * size)}
    groups = best({g: sum(group(g).values()) for g in range(G)}, kv_heads)
    kept = [h for g in groups for h in best(group(g), per_group)]
    rows = lambda numbers: [n * head_size + i for n in numbers for i in range(head_size)]
    return q_QD[rows(kept)], k_UD[rows(groups)], v_UD[rows(groups)], o_DQ[:, rows(kept)]
