"""Reference of 6.6 (online softmax: Milakov & Gimelshein 2018; FlashAttention uses the same)."""

import torch


def merge(a, b):
    (max_a_H, sum_a_H, acc_a_HK), (max_b_H, sum_b_H, acc_b_HK) = a, b
    max_H = torch.maximum(max_a_H, max_b_H)
    weight_a_H, weight_b_H = torch.exp(max_a_H - max_H), torch.exp(max_b_H - max_H)
    sum_H = weight_a_H * sum_a_H + weight_b_H * sum_b_H
    acc_HK = weight_a_H[:, None] * acc_a_HK + weight_b_H[:, None] * acc_b_HK
    return max_H, sum_H, acc_HK
