"""Reference of 8.5."""

import torch


def round_e4m3(x):
    x = x.clamp(-448, 448)
    exponent = (torch.frexp(x).exponent - 1).clamp(min=-6)
    step = torch.exp2((exponent - 3).float())
    return torch.round(x / step) * step
