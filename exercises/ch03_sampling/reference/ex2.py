"""Reference of 3.2."""

import torch


def keep_likely(logits_V, temperature, top_k, top_p):
    kept_V = logits_V / temperature
    if 0 < top_k < len(kept_V):
        kept_V = kept_V.masked_fill(kept_V < kept_V.topk(top_k).values[-1], -torch.inf)
    probs_V = kept_V.softmax(-1)
    sorted_V, order_V = probs_V.sort(descending=True, stable=True)
    before_V = torch.empty_like(probs_V)
    before_V[order_V] = sorted_V.cumsum(-1) - sorted_V
    probs_V = probs_V * ((before_V < top_p) | (probs_V == sorted_V[0]))
    return probs_V / probs_V.sum()
