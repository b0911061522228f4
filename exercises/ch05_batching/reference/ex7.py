"""Reference of 5.7."""

import torch


def next_logits(model, prompts, new_B, pad):
    longest = max(len(p) for p in prompts)
    empty = [longest - len(p) for p in prompts]
    tokens_BC = torch.tensor([[pad] * e + p for e, p in zip(empty, prompts)])
    seen_BC = torch.tensor([[False] * e + [True] * len(p) for e, p in zip(empty, prompts)])
    pos_BC = (seen_BC.cumsum(1) - 1).clamp(min=0)
    first_BV = model(tokens_BC, pos_BC, seen_BC)[:, -1]
    pos_B1 = seen_BC.sum(1, keepdim=True)
    seen_BL = torch.cat([seen_BC, torch.ones(len(prompts), 1, dtype=torch.bool)], 1)
    second_BV = model(new_B[:, None], pos_B1, seen_BL)[:, -1]
    return torch.stack([first_BV, second_BV])
