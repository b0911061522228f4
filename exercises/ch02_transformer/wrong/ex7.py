"""False mends of 2.7."""

import torch


def _attend(q_HTK, k_HLK, v_HLK, mask=True):
    length = q_HTK.shape[1]
    scores = q_HTK @ k_HLK.transpose(1, 2) / q_HTK.shape[-1] ** 0.5
    if mask:
        scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), -torch.inf)
    return scores.softmax(-1) @ v_HLK


def _tokens_first(q, k, v):
    """The code that was given, where the first dimension holds tokens instead of heads."""
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    future = torch.ones(len(q), len(q), dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -torch.inf).softmax(-1) @ v


def _cut(x_TO, heads):
    return x_TO.reshape(heads, x_TO.shape[0], -1)


def _turned(x_TO, heads):
    return x_TO.reshape(x_TO.shape[0], heads, -1).transpose(0, 1)


def _back(out_HTK):
    return out_HTK.transpose(0, 1).flatten(1)


def only_queries(q_TO, k_TO, v_TO, num_heads):
    """the heads of q mended, those of k and v still cut without a transpose"""
    return _back(_attend(_turned(q_TO, num_heads), _cut(k_TO, num_heads), _cut(v_TO, num_heads)))


def all_but_the_values(q_TO, k_TO, v_TO, num_heads):
    """the heads of q and k right, those of v cut without a transpose"""
    return _back(_attend(_turned(q_TO, num_heads), _turned(k_TO, num_heads), _cut(v_TO, num_heads)))


def same_fault_twice(q_TO, k_TO, v_TO, num_heads):
    """no transpose on the way in and none on the way out: the two do not cancel"""
    q, k, v = (_cut(x, num_heads) for x in (q_TO, k_TO, v_TO))
    return _attend(q, k, v).reshape(q_TO.shape)


def heads_interleaved(q_TO, k_TO, v_TO, num_heads):
    """head h taken from every H-th column"""
    turn = lambda x: x.reshape(x.shape[0], -1, num_heads).permute(2, 0, 1)
    return _attend(turn(q_TO), turn(k_TO), turn(v_TO)).permute(1, 2, 0).flatten(1)


def one_large_head(q_TO, k_TO, v_TO, num_heads):
    """all columns taken as one head"""
    return _attend(q_TO[None], k_TO[None], v_TO[None])[0]


def mask_removed(q_TO, k_TO, v_TO, num_heads):
    """right heads, but no mask"""
    q, k, v = (_turned(x, num_heads) for x in (q_TO, k_TO, v_TO))
    return _back(_attend(q, k, v, mask=False))


def never_transposed(q_TO, k_TO, v_TO, num_heads):
    """cut into [T, H, K], but the transpose forgotten: the heads of one token meet each other"""
    q, k, v = (x.reshape(x.shape[0], num_heads, -1) for x in (q_TO, k_TO, v_TO))
    return _tokens_first(q, k, v).transpose(0, 1).reshape(q_TO.shape)


def transposed_after_the_cut(q_TO, k_TO, v_TO, num_heads):
    """a transpose behind the wrong cut: the cut itself must be [T, H, K]"""
    q, k, v = (_cut(x, num_heads).transpose(0, 1) for x in (q_TO, k_TO, v_TO))
    return _tokens_first(q, k, v).transpose(0, 1).reshape(q_TO.shape)


def size_before_heads(q_TO, k_TO, v_TO, num_heads):
    """cut as (length, size, heads): the numbers of one head must be neighbours"""
    turn = lambda x: x.reshape(x.shape[0], -1, num_heads).permute(2, 0, 1)
    return _back(_attend(turn(q_TO), turn(k_TO), turn(v_TO)))


def size_taken_for_heads(q_TO, k_TO, v_TO, num_heads):
    """cut as (length, size, heads) and transposed: size and number of heads change places"""
    size = q_TO.shape[1] // num_heads
    turn = lambda x: x.reshape(x.shape[0], size, num_heads).transpose(0, 1)
    factor = (num_heads / size) ** 0.5  # the scores are still divided by sqrt(size)
    return _back(_attend(turn(q_TO) * factor, turn(k_TO), turn(v_TO)))
