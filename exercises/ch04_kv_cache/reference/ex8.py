"""Reference of 4.8."""

import torch

CHUNK = 4


def decode_logits(model, memory, prompt, answer):
    for start in range(0, len(prompt), CHUNK):
        chunk_T = torch.tensor(prompt[start : start + CHUNK])
        pos_T = torch.arange(start, start + len(chunk_T))
        logits_TV = model(chunk_T, pos_T, memory)
    rows = [logits_TV[-1]]
    for token in answer:
        pos_T = torch.tensor([memory.length])
        rows.append(model(torch.tensor([token]), pos_T, memory)[-1])
    return torch.stack(rows)
