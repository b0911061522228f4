"""Other right answers of 12.1."""

import math

import torch


def with_pairs(weight_NK, sparsity):
    """Size and place as a pair: no two are equal, so any sort will do."""
    sizes = [abs(w) for w in weight_NK.flatten().tolist()]
    count = math.floor(sparsity * len(sizes) + 0.5)
    dropped = set(sorted(range(len(sizes)), key=lambda i: (sizes[i], i))[:count])
    return torch.tensor([i not in dropped for i in range(len(sizes))]).view(weight_NK.shape)


def threshold_and_the_rest(weight_NK, sparsity):
    """Below the threshold all go; of those at it the first ones, as many as are missing."""
    size = weight_NK.abs().flatten()
    count = math.floor(sparsity * len(size) + 0.5)
    if count == 0:
        return torch.full_like(weight_NK, True, dtype=torch.bool)
    threshold = size.sort().values[count - 1]
    below, at = size < threshold, size == threshold
    dropped = below | at & (at.cumsum(0) <= count - below.sum())
    return ~dropped.view_as(weight_NK)
