"""False mends of 6.9."""

import torch


def _gather(q_SHK, pool, table_SM, len_S):
    x_SLGK = pool[table_SM].flatten(1, 2)
    return x_SLGK, torch.arange(x_SLGK.shape[1]) >= len_S[:, None]


def _attend(q_SHK, k_SLGK, v_SLGK, empty_SL, scale, hidden=-torch.inf):
    S, H, K = q_SHK.shape
    q_SGrK = q_SHK.view(S, k_SLGK.shape[2], -1, K) * scale
    scores = torch.einsum("sgrk,slgk->sgrl", q_SGrK, k_SLGK)
    probs = scores.masked_fill(empty_SL[:, None, None], hidden).softmax(-1)
    return torch.einsum("sgrl,slgk->sgrk", probs, v_SLGK).reshape(S, H, K)


def nan_becomes_zero(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """replacing NaN in the RESULT by 0: the answer is a wrong one, only it looks like a number"""
    k_SLGK, empty_SL = _gather(q_SHK, k_pool_NPGK, block_table_SM, len_S)
    v_SLGK, _ = _gather(q_SHK, v_pool_NPGK, block_table_SM, len_S)
    return _attend(q_SHK, k_SLGK, v_SLGK, empty_SL, scale).nan_to_num(0.0)


def zeroes_the_keys(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """emptying the keys, which -inf has hidden already, and not the values"""
    k_SLGK, empty_SL = _gather(q_SHK, k_pool_NPGK, block_table_SM, len_S)
    v_SLGK, _ = _gather(q_SHK, v_pool_NPGK, block_table_SM, len_S)
    k_SLGK = k_SLGK.masked_fill(empty_SL[:, :, None, None], 0.0)
    return _attend(q_SHK, k_SLGK, v_SLGK, empty_SL, scale)


def full_blocks_only(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """leaving the last, partly filled block out: no tail, and some tokens too few"""
    P = k_pool_NPGK.shape[1]
    k_SLGK, _ = _gather(q_SHK, k_pool_NPGK, block_table_SM, len_S)
    v_SLGK, _ = _gather(q_SHK, v_pool_NPGK, block_table_SM, len_S)
    full_S = torch.where(len_S < P, len_S, len_S // P * P)
    empty_SL = torch.arange(k_SLGK.shape[1]) >= full_S[:, None]
    v_SLGK = v_SLGK.masked_fill(empty_SL[:, :, None, None], 0.0)
    return _attend(q_SHK, k_SLGK, v_SLGK, empty_SL, scale)


def cut_at_the_shortest(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """cutting every request at the length of the shortest one"""
    end = int(len_S.min())
    k_SLGK, empty_SL = _gather(q_SHK, k_pool_NPGK, block_table_SM, len_S)
    v_SLGK, _ = _gather(q_SHK, v_pool_NPGK, block_table_SM, len_S)
    return _attend(q_SHK, k_SLGK[:, :end], v_SLGK[:, :end], empty_SL[:, :end], scale)


def zero_for_a_score(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """a score of 0 for empty places: exp(0) is 1, so they take a share of the weight"""
    k_SLGK, empty_SL = _gather(q_SHK, k_pool_NPGK, block_table_SM, len_S)
    v_SLGK, _ = _gather(q_SHK, v_pool_NPGK, block_table_SM, len_S)
    v_SLGK = v_SLGK.masked_fill(empty_SL[:, :, None, None], 0.0)
    return _attend(q_SHK, k_SLGK, v_SLGK, empty_SL, scale, hidden=0.0)


def cleans_the_pool(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """cleaning the whole pool in every step (it belongs to all requests, and it is large)"""
    for pool in (k_pool_NPGK, v_pool_NPGK):
        pool.nan_to_num_(0.0)
    k_SLGK, empty_SL = _gather(q_SHK, k_pool_NPGK, block_table_SM, len_S)
    v_SLGK, _ = _gather(q_SHK, v_pool_NPGK, block_table_SM, len_S)
    return _attend(q_SHK, k_SLGK, v_SLGK, empty_SL, scale)


def only_nan_replaced(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale):
    """replacing NaN only, in the values: an inf stays, and 0 * inf is NaN too"""
    k_SLGK, empty_SL = _gather(q_SHK, k_pool_NPGK, block_table_SM, len_S)
    v_SLGK, _ = _gather(q_SHK, v_pool_NPGK, block_table_SM, len_S)
    v_SLGK = torch.where(v_SLGK.isnan(), 0.0, v_SLGK)
    return _attend(q_SHK, k_SLGK, v_SLGK, empty_SL, scale)
