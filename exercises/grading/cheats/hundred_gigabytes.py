"""Asks for 100 GB at once."""

# exercise: 0.2
# ends: memory

import torch


def scale_rows(weights, scale):
    return torch.ones(25_000_000_000)[0] * weights
