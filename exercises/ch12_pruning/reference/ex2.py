"""Reference of 12.2."""

import torch


def wanda_mask(weight_NK, x_TK, sparsity):
    norm_K = (x_TK**2).sum(dim=0).sqrt()
    score_NK = weight_NK.abs() * norm_K
    count = int(sparsity * weight_NK.shape[1] + 0.5)
    order_NK = score_NK.argsort(dim=1, stable=True)
    mask_NK = torch.ones_like(weight_NK, dtype=torch.bool)
    return mask_NK.scatter(1, order_NK[:, :count], False)
