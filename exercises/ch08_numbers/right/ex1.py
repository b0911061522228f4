"""Other right answers of 8.1."""

import torch


def multiplies(x):
    largest = max(-x.min(), x.max())
    codes = torch.round(x * (127 / largest)).clamp(-127, 127).char()
    return codes, largest / 127, codes.float() * (largest / 127)


def by_lists(x):
    scale = max(abs(v) for v in x.flatten().tolist()) / 127
    codes = torch.tensor([round(v / scale) for v in x.flatten().tolist()], dtype=torch.int8)
    codes = codes.reshape(x.shape)
    return codes, torch.tensor(scale), codes * torch.tensor(scale)
