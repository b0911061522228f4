"""Other right answers of 8.5."""

import math

import torch


def by_log(x):
    x = x.clamp(-448, 448)
    exponent = torch.floor(torch.log2(x.abs().double().clamp(min=2.0**-6)))
    step = 2.0 ** (exponent - 3)
    return (torch.round(x / step) * step).float()


def one_by_one(x):
    out = []
    for value in x.flatten().tolist():
        value = min(max(value, -448.0), 448.0)
        step = 2.0 ** (max(math.frexp(value)[1] - 1, -6) - 3)
        out.append(round(value / step) * step)
    return torch.tensor(out, dtype=torch.float32).reshape(x.shape)
