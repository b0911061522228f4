"""Reference of 8.2."""

import torch


def asymmetric_uint8(x):
    low, high = x.min().clamp(max=0), x.max().clamp(min=0)
    scale = (high - low) / 255
    zero = round(float(-low / scale))
    codes = ((x / scale).round() + zero).clamp(0, 255).to(torch.uint8)
    return codes, scale, zero, (codes.float() - zero) * scale
