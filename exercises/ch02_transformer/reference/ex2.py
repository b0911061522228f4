"""Reference of 2.2."""

import torch


def rope(x_THK, pos_T, theta):
    K = x_THK.shape[-1]
    freq_k = theta ** (-torch.arange(0, K, 2) / K)
    angle_Tk = pos_T[:, None] * freq_k
    cos_T1k, sin_T1k = angle_Tk.cos()[:, None], angle_Tk.sin()[:, None]
    a_THk, b_THk = x_THK.chunk(2, dim=-1)
    return torch.cat((a_THk * cos_T1k - b_THk * sin_T1k, b_THk * cos_T1k + a_THk * sin_T1k), -1)
