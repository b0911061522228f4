"""Named wrong answers of 2.3."""

import torch


def _scores(q_TK, k_LK):
    return q_TK @ k_LK.T / q_TK.shape[-1] ** 0.5


def _past(scores_TL):
    return torch.ones_like(scores_TL, dtype=torch.bool).tril()


def no_mask(q_TK, k_LK, v_LK):
    """no causal mask: every token sees the future"""
    return _scores(q_TK, k_LK).softmax(-1) @ v_LK


def no_scale(q_TK, k_LK, v_LK):
    """scores not divided by sqrt(K)"""
    scores = q_TK @ k_LK.T
    return scores.masked_fill(~_past(scores), -torch.inf).softmax(-1) @ v_LK


def divided_by_size(q_TK, k_LK, v_LK):
    """scores divided by K instead of sqrt(K)"""
    scores = q_TK @ k_LK.T / q_TK.shape[-1]
    return scores.masked_fill(~_past(scores), -torch.inf).softmax(-1) @ v_LK


def mask_upside_down(q_TK, k_LK, v_LK):
    """the mask turned round: every token sees itself and the future"""
    scores = _scores(q_TK, k_LK)
    return scores.masked_fill(~_past(scores).T, -torch.inf).softmax(-1) @ v_LK


def not_itself(q_TK, k_LK, v_LK):
    """a token that may not look at itself (the first one sees nothing: NaN)"""
    scores = _scores(q_TK, k_LK)
    return scores.masked_fill(~_past(scores).tril(-1), -torch.inf).softmax(-1) @ v_LK


def zero_instead_of_minus_infinity(q_TK, k_LK, v_LK):
    """scores of the future set to 0, which softmax turns into a positive weight"""
    scores = _scores(q_TK, k_LK)
    return scores.masked_fill(~_past(scores), 0.0).softmax(-1) @ v_LK


def mask_after_softmax(q_TK, k_LK, v_LK):
    """the mask applied after softmax, so the weights no longer sum to 1"""
    scores = _scores(q_TK, k_LK)
    return scores.softmax(-1).masked_fill(~_past(scores), 0.0) @ v_LK


def softmax_over_queries(q_TK, k_LK, v_LK):
    """softmax down the columns instead of along the rows"""
    scores = _scores(q_TK, k_LK)
    return scores.masked_fill(~_past(scores), -torch.inf).softmax(0) @ v_LK


def mask_inverted(q_TK, k_LK, v_LK):
    """the mask inverted: every token sees only what comes after it (the last one nothing: NaN)"""
    scores = _scores(q_TK, k_LK)
    return scores.masked_fill(_past(scores), -torch.inf).softmax(-1) @ v_LK
