"""Reference of 12.1."""

import torch


def magnitude_mask(weight_NK, sparsity):
    count = int(sparsity * weight_NK.numel() + 0.5)
    order = weight_NK.abs().flatten().argsort(stable=True)
    mask = torch.ones(weight_NK.numel(), dtype=torch.bool)
    mask[order[:count]] = False
    return mask.view_as(weight_NK)
