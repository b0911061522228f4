"""Reference of 12.6."""

import torch


def cheapest_mask(weight_NK, hessian_KK, sparsity):
    count = int(sparsity * weight_NK.shape[1] + 0.5)
    live_K = hessian_KK.diagonal() > 0
    score_NK = torch.zeros_like(weight_NK)
    inverse_KK = hessian_KK[live_K][:, live_K].inverse()
    score_NK[:, live_K] = weight_NK[:, live_K] ** 2 / inverse_KK.diagonal()
    order_NK = score_NK.argsort(dim=1, stable=True)
    mask_NK = torch.ones_like(weight_NK, dtype=torch.bool)
    return mask_NK.scatter(1, order_NK[:, :count], False)
