"""Named wrong answers of 13.2."""


def _best(scores, count):
    return sorted(sorted(scores, key=lambda i: (-scores[i], i))[:count])


def _rows(numbers, size):
    return [n * size + i for n in numbers for i in range(size)]


def _cut(matrices, K, kept, groups, columns=None):
    q_QD, k_UD, v_UD, o_DQ = matrices
    q, kv = _rows(kept, K), _rows(groups, K)
    return q_QD[q], k_UD[kv], v_UD[kv], o_DQ[:, q if columns is None else columns]


def _checked(k_UD, importance_H, K, heads, kv_heads):
    """G, query heads of a group, and how many of them stay."""
    G = len(k_UD) // K
    size = len(importance_H) // G
    if kv_heads not in range(1, G + 1) or heads % kv_heads:
        raise ValueError("cannot remain")
    if heads // kv_heads not in range(1, size + 1):
        raise ValueError("cannot remain")
    return G, size, heads // kv_heads


def _drop(given, total=sum, best=_best, member=None, inside=None, columns=None, check=_checked):
    """Our answer with some parts replaced."""
    *matrices, importance_H, K, heads, kv_heads = given
    G, size, per_group = check(matrices[1], importance_H, K, heads, kv_heads)
    member = member or (lambda g: [g * size + i for i in range(size)])
    score = lambda numbers: {h: importance_H[h] for h in numbers}
    groups = best({g: total([importance_H[h] for h in member(g)]) for g in range(G)}, kv_heads)
    pick = inside or (lambda g: best(score(member(g)), per_group))
    kept = [h for g in groups for h in pick(g)]
    return _cut(matrices, K, kept, groups, columns)


def from_all_groups_together(*given):
    """the best query heads of all groups together: one KV head keeps more of them than another"""
    *matrices, importance_H, K, heads, kv_heads = given
    G, size, _ = _checked(matrices[1], importance_H, K, heads, kv_heads)
    sums = {g: sum(importance_H[g * size : (g + 1) * size]) for g in range(G)}
    groups = _best(sums, kv_heads)
    there = {h: s for h, s in enumerate(importance_H) if h // size in groups}
    return _cut(matrices, K, _best(there, heads), groups)


def interleaved_groups(*given):
    """group h % G: the query heads of a KV head lie side by side, their group is h // (H / G)"""
    *matrices, importance_H, K, heads, kv_heads = given
    G, size, per_group = _checked(matrices[1], importance_H, K, heads, kv_heads)
    return _drop(given, member=lambda g: [g + i * G for i in range(size)])


def first_of_the_group(*given):
    """the first query heads of a group, not the best"""
    *matrices, importance_H, K, heads, kv_heads = given
    _, size, per_group = _checked(matrices[1], importance_H, K, heads, kv_heads)
    return _drop(given, inside=lambda g: [g * size + i for i in range(per_group)])


def best_head_speaks(*given):
    """a KV head judged by the best of its query heads, not by their sum"""
    return _drop(given, total=max)


def only_what_stays(*given):
    """a KV head judged by those query heads only that would stay"""
    *matrices, importance_H, K, heads, kv_heads = given
    per_group = _checked(matrices[1], importance_H, K, heads, kv_heads)[2]
    return _drop(given, total=lambda found: sum(sorted(found)[-per_group:]))


def worst_kept(*given):
    """keeping the least important heads"""
    return _drop(given, best=lambda s, n: sorted(sorted(s, key=lambda i: (s[i], i))[:n]))


def in_order_of_importance(*given):
    """the right heads, the most important first (not in their old order)"""
    return _drop(given, best=lambda s, n: sorted(s, key=lambda i: (-s[i], i))[:n])


def later_stays_on_a_tie(*given):
    """on a tie the HIGHER number stays"""
    return _drop(given, best=lambda s, n: sorted(sorted(s, key=lambda i: (-s[i], -i))[:n]))


def o_keeps_its_first_columns(*given):
    """the first columns of o: they belong to other heads than the rows of q"""
    return _drop(given, columns=list(range(given[6] * given[5])))


def rows_of_o(*given):
    """the ROWS of o were cut: o reads the heads in its columns"""
    q_QD, k_UD, v_UD, o_DQ, importance_H, K, heads, kv_heads = given
    new_q, new_k, new_v, _ = _drop(given)
    kept = [r for r, row in enumerate(q_QD) if any(row.equal(one) for one in new_q)]
    return new_q, new_k, new_v, o_DQ[[r for r in kept if r < len(o_DQ)]]


def kv_stay(*given):
    """all rows of k and v stay: only query heads were removed"""
    new_q, _, _, new_o = _drop(given)
    return new_q, given[1], given[2], new_o


def kept_number_as_a_row(*given):
    """head i as row i: a head is head_size rows"""
    *matrices, importance_H, K, heads, kv_heads = given
    G, size, per_group = _checked(matrices[1], importance_H, K, heads, kv_heads)
    return _drop(
        (*matrices, importance_H, 1, heads, kv_heads), check=lambda *_: (G, size, per_group)
    )


def not_refused(*given):
    """numbers that do not divide are rounded down, not refused"""

    def check(k_UD, importance_H, K, heads, kv_heads):
        G = len(k_UD) // K
        kv_heads = max(1, min(kv_heads, G))
        return G, len(importance_H) // G, max(1, heads // kv_heads)

    return _drop(given, check=check)


def too_many_allowed(*given):
    """more query heads than a group has: only the division was looked at"""

    def check(k_UD, importance_H, K, heads, kv_heads):
        G = len(k_UD) // K
        if kv_heads < 1 or heads < 1 or kv_heads > G or heads % kv_heads:
            raise ValueError("cannot remain")
        return G, len(importance_H) // G, heads // kv_heads

    return _drop(given, check=check)


def none_allowed(*given):
    """0 heads as a number that can remain"""

    def check(k_UD, importance_H, K, heads, kv_heads):
        G = len(k_UD) // K
        size = len(importance_H) // G
        if not 0 <= kv_heads <= G or heads < 0 or heads > kv_heads * size:
            raise ValueError("cannot remain")
        if kv_heads and heads % kv_heads:
            raise ValueError("cannot remain")
        return G, size, heads // max(kv_heads, 1)

    return _drop(given, check=check)
