"""A result that no pipe wants."""

# exercise: 0.2
# ends: output or memory

import torch


def scale_rows(weights, scale):
    return torch.zeros(2**21)
