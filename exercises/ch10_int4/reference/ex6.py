"""Reference of 10.6."""

import torch


def dequantise(codes_NK, scale_NG, group):
    N, K = codes_NK.shape
    group_K = torch.arange(K) // group
    scale_NK = scale_NG[:, group_K]
    return codes_NK * scale_NK
