"""Exercise 5.7: find the fault.

Users say: "With prompts of the same length everything is right. With prompts of different lengths
the first new token is right, too. From the second one on, the answers to the SHORT prompts go
wrong." No error.

A static batch in many libraries is a rectangle: short prompts get `pad` tokens on the LEFT.
next_logits reads the prompts together, then one new token of each. `model` keeps the keys and
values of the columns it has read. It takes the new columns, and `seen` for all columns so far:

    model(tokens_BC, pos_BC, seen_BL) -> logits [B, C, V]
    tokens_BC   C new columns          pos_BC   the position of each new token in its own text
    seen_BL     bool: which of all L columns hold a real token. Every token sees the real ones
                of its row up to itself.

The logits must be those that each text gets alone. Find the fault and mend it.
"""

import torch
from torch import Tensor


def next_logits(model, prompts: list[list[int]], new_B: Tensor, pad: int) -> Tensor:
    """new_B: int64 [B], the token that follows each prompt. Returns [2, B, V]: the logits after
    each prompt, and after its new token."""
    longest = max(len(p) for p in prompts)
    empty = [longest - len(p) for p in prompts]
    tokens_BC = torch.tensor([[pad] * e + p for e, p in zip(empty, prompts)])
    seen_BC = torch.tensor([[False] * e + [True] * len(p) for e, p in zip(empty, prompts)])
    pos_BC = (seen_BC.cumsum(1) - 1).clamp(min=0)
    first_BV = model(tokens_BC, pos_BC, seen_BC)[:, -1]
    pos_B1 = seen_BC.sum(1, keepdim=True)
    seen_BL = torch.ones(len(prompts), longest + 1, dtype=torch.bool)
    second_BV = model(new_B[:, None], pos_B1, seen_BL)[:, -1]
    return torch.stack([first_BV, second_BV])
