"""Reference of 9.5."""

import torch


def split_linear(x_TK, codes_NK, scale_N, threshold):
    large_K = (x_TK.abs() > threshold).any(0)
    apart_TN = x_TK[:, large_K] @ codes_NK[:, large_K].float().T
    rest_TK = x_TK.masked_fill(large_K, 0)
    scale_T1 = rest_TK.abs().amax(1, keepdim=True) / 127
    scale_T1 = torch.where(scale_T1 == 0, 1.0, scale_T1)
    q_TK = (rest_TK / scale_T1).round().int()
    sum_TN = q_TK @ codes_NK.int().T
    return (sum_TN * scale_T1 + apart_TN) * scale_N
