"""False mends of 5.6."""

import torch


def _draw(logits_SV, temperature_S, uniform_S):
    probs_SV = (logits_SV / temperature_S[:, None]).softmax(-1)
    return (probs_SV.cumsum(-1) > uniform_S[:, None]).int().argmax(-1)


def drawn_at_one(logits_SV, temperature_S, uniform_S):
    """greedy rows drawn with temperature 1: no NaN any more, but not greedy"""
    return _draw(logits_SV, torch.where(temperature_S == 0, 1.0, temperature_S), uniform_S)


def a_small_temperature(logits_SV, temperature_S, uniform_S):
    """a small temperature in the place of 0: near ties are still drawn"""
    return _draw(logits_SV, temperature_S.clamp(min=0.1), uniform_S)


def a_tiny_temperature(logits_SV, temperature_S, uniform_S):
    """a tiny temperature instead of none: two equal logits are still drawn"""
    return _draw(logits_SV, temperature_S.clamp(min=1e-6), uniform_S)


def all_greedy(logits_SV, temperature_S, uniform_S):
    """every row greedy as soon as one of them is"""
    if (temperature_S == 0).any():
        return logits_SV.argmax(-1)
    return _draw(logits_SV, temperature_S, uniform_S)


def first_row_decides(logits_SV, temperature_S, uniform_S):
    """the first row decides for all: greedy or drawn"""
    if temperature_S[0] == 0:
        return logits_SV.argmax(-1)
    return _draw(logits_SV, torch.where(temperature_S == 0, 1.0, temperature_S), uniform_S)


def rows_change_places(logits_SV, temperature_S, uniform_S):
    """greedy rows first, drawn rows behind them: the tokens no longer stand in the batch's order"""
    greedy_S = temperature_S == 0
    best = logits_SV[greedy_S].argmax(-1)
    if greedy_S.all():
        return best
    drawn = _draw(logits_SV[~greedy_S], temperature_S[~greedy_S], uniform_S[~greedy_S])
    return torch.cat([best, drawn])


def uniform_out_of_step(logits_SV, temperature_S, uniform_S):
    """greedy rows mended, but the drawn rows take the first uniform numbers, not their own"""
    greedy_S, token_S = temperature_S == 0, logits_SV.argmax(-1)
    if not greedy_S.all():
        count = int((~greedy_S).sum())
        draw = _draw(logits_SV[~greedy_S], temperature_S[~greedy_S], uniform_S[:count])
        token_S[~greedy_S] = draw
    return token_S


def zeros_for_nan(logits_SV, temperature_S, uniform_S):
    """NaN replaced by 0: the row then has no probability at all, and token 0 is taken"""
    if (temperature_S == 0).all():
        return logits_SV.argmax(-1)
    probs_SV = (logits_SV / temperature_S[:, None]).softmax(-1).nan_to_num(0.0)
    return (probs_SV.cumsum(-1) > uniform_S[:, None]).int().argmax(-1)


def one_row_loses_its_axis(logits_SV, temperature_S, uniform_S):
    """right tokens, but the axis of a batch of one row is squeezed away"""
    drawn_S = drawn_at_one(logits_SV, temperature_S, uniform_S)
    return torch.where(temperature_S == 0, logits_SV.argmax(-1), drawn_S).squeeze()
