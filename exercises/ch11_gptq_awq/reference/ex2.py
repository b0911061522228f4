"""Reference of 11.2."""

import torch


def gptq_columns(weight_NK, upper_KK, round_column):
    work_NK = weight_NK.clone()
    rounded_NK = torch.zeros_like(weight_NK)
    for k in range(weight_NK.shape[1]):
        rounded_NK[:, k] = round_column(work_NK[:, k], k)
        error_N = (work_NK[:, k] - rounded_NK[:, k]) / upper_KK[k, k]
        work_NK[:, k + 1 :] -= error_N[:, None] * upper_KK[k, k + 1 :]
    return rounded_NK
