"""Other right mends of 5.6."""

import torch


def row_by_row(logits_SV, temperature_S, uniform_S):
    tokens = []
    for row_V, temperature, uniform in zip(logits_SV, temperature_S, uniform_S):
        if temperature == 0:
            tokens.append(row_V.argmax())
        else:
            sums_V = (row_V / temperature).softmax(-1).cumsum(-1)
            tokens.append((sums_V > uniform).int().argmax())
    return torch.stack(tokens)


def only_the_others_drawn(logits_SV, temperature_S, uniform_S):
    token_S, draws = logits_SV.argmax(-1), temperature_S > 0
    probs = (logits_SV[draws] / temperature_S[draws, None]).softmax(-1)
    token_S[draws] = (probs.cumsum(-1) <= uniform_S[draws, None]).sum(-1)
    return token_S
