"""Other right answers of 8.2."""

import torch


def from_the_low_end(x):
    low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    scale = torch.tensor((high - low) / 255)
    zero = int(round(-low / float(scale)))
    codes = torch.round(x / scale + zero).clamp(0, 255).byte()
    return codes, scale, zero, (codes.int() - zero) * scale


def with_zero_appended(x):
    ends = torch.cat([x.flatten(), x.new_zeros(1)])
    scale = ends.max() / 255 - ends.min() / 255
    zero = int((-ends.min() / scale).round())
    codes = (torch.round(x / scale) + zero).clamp(0, 255)
    return codes.to(torch.uint8), scale, zero, scale * (codes - zero)
