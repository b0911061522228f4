"""Reference of 5.6."""

import torch


def next_tokens(logits_SV, temperature_S, uniform_S):
    greedy_S = temperature_S == 0
    safe_S = torch.where(greedy_S, 1.0, temperature_S)
    probs_SV = (logits_SV / safe_S[:, None]).softmax(-1)
    reached_SV = probs_SV.cumsum(-1) > uniform_S[:, None]
    return torch.where(greedy_S, logits_SV.argmax(-1), reached_SV.int().argmax(-1))
