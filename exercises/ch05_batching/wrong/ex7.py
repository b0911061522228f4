"""False mends of 5.7."""

import torch


def _run(model, prompts, new_B, pad, pos, new_pos, seen_later=None, seen_first=None):
    longest = max(len(p) for p in prompts)
    empty = [longest - len(p) for p in prompts]
    tokens_BC = torch.tensor([[pad] * e + p for e, p in zip(empty, prompts)])
    real_BC = torch.tensor([[False] * e + [True] * len(p) for e, p in zip(empty, prompts)])
    seen_BC = real_BC if seen_first is None else seen_first(real_BC)
    first_BV = model(tokens_BC, pos(real_BC), seen_BC)[:, -1]
    later_BC = seen_BC if seen_later is None else seen_later(real_BC)
    seen_BL = torch.cat([later_BC, torch.ones(len(prompts), 1, dtype=torch.bool)], 1)
    second_BV = model(new_B[:, None], new_pos(real_BC), seen_BL)[:, -1]
    return torch.stack([first_BV, second_BV])


def _columns(real_BC):
    return torch.arange(real_BC.shape[1]).expand(real_BC.shape)


def _own(real_BC):
    return (real_BC.cumsum(1) - 1).clamp(min=0)


def _count(real_BC):
    return real_BC.sum(1, keepdim=True)


def _longest(real_BC):
    return torch.full((len(real_BC), 1), real_BC.shape[1])


def columns_then_own(model, prompts, new_B, pad):
    """prompt positions counted in columns, the new token's in real tokens"""
    return _run(model, prompts, new_B, pad, _columns, _count)


def own_then_columns(model, prompts, new_B, pad):
    """prompt positions counted in real tokens, the new token's in columns"""
    return _run(model, prompts, new_B, pad, _own, _longest)


def pads_seen_later(model, prompts, new_B, pad):
    """the new token sees the padding"""
    return _run(model, prompts, new_B, pad, _own, _count, seen_later=torch.ones_like)


def pads_seen_always(model, prompts, new_B, pad):
    """every token sees the padding"""
    return _run(model, prompts, new_B, pad, _own, _count, seen_first=torch.ones_like)


def one_too_far(model, prompts, new_B, pad):
    """a gap of one position before the new token"""
    return _run(model, prompts, new_B, pad, _own, lambda real: _count(real) + 1)


def last_position_again(model, prompts, new_B, pad):
    """the new token at the position of the prompt's last token (sum - 1)"""
    return _run(model, prompts, new_B, pad, _own, lambda real: _count(real) - 1)


def new_token_alone(model, prompts, new_B, pad):
    """the new token does not see its prompt"""
    return _run(model, prompts, new_B, pad, _own, _count, seen_later=torch.zeros_like)


def one_row_loses_its_axis(model, prompts, new_B, pad):
    """right logits, but the axis of a batch of one row is squeezed away"""
    return _run(model, prompts, new_B, pad, _own, _count).squeeze()
