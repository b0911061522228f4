"""Infinity swallows every difference."""

# exercise: 0.2
# ends: wrong

import torch


def scale_rows(weights, scale):
    return torch.full_like(weights, torch.inf)
