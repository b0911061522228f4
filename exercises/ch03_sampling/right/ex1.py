"""Other right answers of 3.1."""

import torch


def with_while(model, prompt, max_tokens, end_ids):
    tokens = prompt + []
    while len(tokens) < len(prompt) + max_tokens:
        logits_V = model(tokens)[len(tokens) - 1]
        best = torch.max(logits_V, dim=0).indices.item()
        if best in end_ids:
            return tokens[len(prompt) :]
        tokens = [*tokens, best]
    return tokens[len(prompt) :]


def recursive(model, prompt, max_tokens, end_ids):
    if max_tokens == 0:
        return []
    best = max(enumerate(model(prompt)[-1].tolist()), key=lambda pair: pair[1])[0]
    if best in end_ids:
        return []
    return [best] + recursive(model, [*prompt, best], max_tokens - 1, end_ids)
