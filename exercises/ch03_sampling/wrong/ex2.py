"""Named wrong answers of 3.2."""

import torch


def _top_k(logits_V, top_k, fill=-torch.inf):
    if not 0 < top_k < len(logits_V):
        return logits_V
    return logits_V.masked_fill(logits_V < logits_V.topk(top_k).values[-1], fill)


def _top_p(probs_V, top_p, crossing=True):
    ordered_V, order_V = probs_V.sort(descending=True)
    mass_V = ordered_V.cumsum(-1) - (ordered_V if crossing else 0)
    dropped_V = mass_V >= top_p
    dropped_V[0] = False
    return probs_V.masked_fill(dropped_V[order_V.argsort()], 0.0)


def without_crossing_token(logits_V, temperature, top_k, top_p):
    """dropping the token that crosses top_p"""
    probs_V = _top_p(_top_k(logits_V / temperature, top_k).softmax(-1), top_p, crossing=False)
    return probs_V / probs_V.sum()


def not_renormalised(logits_V, temperature, top_k, top_p):
    """probabilities that no longer sum to 1"""
    return _top_p(_top_k(logits_V / temperature, top_k).softmax(-1), top_p)


def top_p_before_top_k(logits_V, temperature, top_k, top_p):
    """top-p counted over all tokens, before top-k"""
    probs_V = _top_p((logits_V / temperature).softmax(-1), top_p)
    kept_V = _top_k(logits_V / temperature, top_k)
    probs_V = probs_V.masked_fill(kept_V == -torch.inf, 0.0)
    return probs_V / probs_V.sum()


def temperature_times(logits_V, temperature, top_k, top_p):
    """multiplying by the temperature"""
    probs_V = _top_p(_top_k(logits_V * temperature, top_k).softmax(-1), top_p)
    return probs_V / probs_V.sum()


def temperature_last(logits_V, temperature, top_k, top_p):
    """the temperature after top-p, not before"""
    kept_V = _top_p(_top_k(logits_V, top_k).softmax(-1), top_p)
    return (kept_V.log() / temperature).softmax(-1)


def zero_logits(logits_V, temperature, top_k, top_p):
    """logits of 0 in place of -inf for what top-k drops"""
    probs_V = _top_p(_top_k(logits_V / temperature, top_k, fill=0.0).softmax(-1), top_p)
    return probs_V / probs_V.sum()


def left_in_sorted_order(logits_V, temperature, top_k, top_p):
    """probabilities left in sorted order, no longer in the order of the vocabulary"""
    probs_V = _top_p(_top_k(logits_V / temperature, top_k).softmax(-1), top_p)
    return (probs_V / probs_V.sum()).sort(descending=True).values


def one_token_too_few(logits_V, temperature, top_k, top_p):
    """top_k - 1 tokens kept: the last of the top_k is dropped too"""
    kept_V = _top_k(logits_V / temperature, max(top_k - 1, 1) if top_k else 0)
    probs_V = _top_p(kept_V.softmax(-1), top_p)
    return probs_V / probs_V.sum()
