"""Named wrong answers of 6.5."""

import torch


def _attend(q_HK, k_LGK, v_LGK, scale, tiled=False):
    share = q_HK.shape[0] // k_LGK.shape[1]
    widen = lambda x: x.repeat(1, share, 1) if tiled else x.repeat_interleave(share, 1)
    probs_HL = (torch.einsum("hk,lhk->hl", q_HK, widen(k_LGK)) * scale).softmax(-1)
    return torch.einsum("hl,lhk->hk", probs_HL, widen(v_LGK))


def _each(q_SHK, k_pool, v_pool, table_SM, len_S, scale, gather, tiled=False):
    out = []
    for q_HK, table_M, length in zip(q_SHK, table_SM, len_S.tolist()):
        k, v = gather(k_pool, table_M, length), gather(v_pool, table_M, length)
        out.append(_attend(q_HK, k, v, scale, tiled))
    return torch.stack(out)


def _rows(pool, table_M, length):
    return pool[table_M].flatten(0, 1)[:length]


def reads_the_tail(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """reading whole blocks: the empty rows of the last one take part"""
    whole = lambda pool, table, n: pool[table[: -(-n // pool.shape[1])]].flatten(0, 1)
    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale, whole)


def masked_tail(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """reading empty rows with a mask on the scores (weight 0 times NaN is NaN)"""
    out = []
    for q_HK, table_M, length in zip(q_SHK, block_table_SM, len_S.tolist()):
        k, v = (x[table_M].flatten(0, 1) for x in (k_pool_NPGK, v_pool_NPGK))
        share = q_HK.shape[0] // k.shape[1]
        scores = torch.einsum("hk,lhk->hl", q_HK, k.repeat_interleave(share, 1)) * scale
        scores[:, length:] = -torch.inf
        out.append(torch.einsum("hl,lhk->hk", scores.softmax(-1), v.repeat_interleave(share, 1)))
    return torch.stack(out)


def full_blocks_only(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """only the blocks that are full: the tokens of the last one are missing"""

    def full(pool, table, n):
        size = pool.shape[1]
        return pool[table].flatten(0, 1)[: max(n // size * size, min(n, size))]

    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale, full)


def without_the_last_token(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """one token too few: the newest key is not seen"""
    short = lambda pool, table, n: _rows(pool, table, max(n - 1, 1))
    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale, short)


def first_block_again(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """every block read from the first entry of the table"""
    same = lambda pool, table, n: _rows(pool, table[:1].expand(len(table)), n)
    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale, same)


def blocks_in_order(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """sorting the blocks of a request: the last, partly filled one comes to stand in the middle"""

    def ordered(pool, table, n):
        return _rows(pool, table[: -(-n // pool.shape[1])].sort().values, n)

    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale, ordered)


def heads_tiled(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """repeating the KV heads as 0 1 0 1 instead of 0 0 1 1"""
    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale, _rows, True)


def no_scale(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """leaving out the scale"""
    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, 1.0, _rows)


def scale_of_its_own(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """1 / sqrt(K), whatever scale is given"""
    own = q_SHK.shape[-1] ** -0.5
    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, own, _rows)


def nan_is_the_mask(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """whole blocks without their NaN rows: old numbers that others left there take part"""

    def clean(pool, table, n):
        rows = pool[table[: -(-n // pool.shape[1])]].flatten(0, 1)
        return rows[~rows.isnan().any(-1).any(-1)]

    return _each(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale, clean)
