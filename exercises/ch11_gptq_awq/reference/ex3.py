"""Reference of 11.3."""

import torch


def scale_search(weight_NK, x_TK, norm_K, alphas, round_matrix):
    mean_K = x_TK.abs().mean(0)
    live_K, least = mean_K > 0, None
    for alpha in alphas:
        s_K = mean_K[live_K] ** alpha
        middle = (s_K.max() * s_K.min()).sqrt()
        s_K = torch.ones_like(mean_K).masked_scatter(live_K, s_K / middle)
        coded_NK = round_matrix(weight_NK * s_K)
        off_TN = x_TK @ (weight_NK - coded_NK / s_K).T
        error = float((off_TN**2).sum())
        if least is None or error < least:
            least, best = error, (alpha, coded_NK, norm_K / s_K)
    return best
