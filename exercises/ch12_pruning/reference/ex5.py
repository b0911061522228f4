"""Reference of 12.5."""

import torch


def drop_and_mend(work_NK, upper_KK, k, drop_N):
    cost_N = (work_NK[:, k] / upper_KK[k, k]) ** 2
    error_N = torch.where(drop_N, work_NK[:, k], 0.0) / upper_KK[k, k]
    new_NK = work_NK.clone()  # last: trace names the first variable that differs
    new_NK[drop_N, k] = 0
    new_NK[:, k + 1 :] -= error_N[:, None] * upper_KK[k, k + 1 :]
    return new_NK, cost_N
