"""Exercise 4.8: find the fault.

Users say: the text begins well enough, then it slowly goes wrong. No error, no odd shape.
`decode_logits` reads a prompt in chunks, then feeds the tokens of a known answer one by one. It
returns the logits after the prompt and after each token of the answer. They must equal what the
model says when it reads the whole text at once, without a cache. They do not. Find the fault and
mend it.

`model(tokens_T, pos_T, memory)` returns logits [T, V]. pos_T holds the position of each token in
its text, from 0. The memory keeps the keys and values; memory.length is how many tokens it holds.
"""

import torch
from torch import Tensor

CHUNK = 4  # tokens of the prompt read in one step


def decode_logits(model, memory, prompt: list[int], answer: list[int]) -> Tensor:
    """Returns [1 + len(answer), V]."""
    for start in range(0, len(prompt), CHUNK):
        chunk_T = torch.tensor(prompt[start : start + CHUNK])
        pos_T = torch.arange(start + 1, start + len(chunk_T) + 1)
        logits_TV = model(chunk_T, pos_T, memory)
    rows = [logits_TV[-1]]
    for token in answer:
        pos_T = torch.tensor([memory.length])
        rows.append(model(torch.tensor([token]), pos_T, memory)[-1])
    return torch.stack(rows)
