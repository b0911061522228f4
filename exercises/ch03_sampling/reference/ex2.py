"""Reference of 3.2."""

import torch


def keep_likely(logits_V, temperature, top_k, top_p):
    kept_V = logits_V / temperature
    if 0 < top_k < len(kept_V):
        kept_V = kept_V.masked_fill(kept_V < kept_V.topk(top_k).values[-1], -torch.inf)
    probs_V = kept_V.softmax(-1)
    before_V = (probs_V * (probs_V > probs_V[:, None])).sum(-1)  # row i: all likelier than i
    left_V = probs_V * ((before_V < top_p) | (before_V == 0))
    return left_V / left_V.sum()
