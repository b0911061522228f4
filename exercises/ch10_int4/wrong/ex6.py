"""False mends of 10.6."""

import math

import torch


def _with(codes_NK, scale_NG, group_K):
    return codes_NK * scale_NG[:, group_K]


def tail_of_zeros(codes_NK, scale_NG, group):
    """zeros in the columns behind the last full group"""
    K = codes_NK.shape[1]
    out_NK = _with(codes_NK, scale_NG, torch.arange(K) // group)
    out_NK[:, K // group * group :] = 0
    return out_NK


def filled_up(codes_NK, scale_NG, group):
    """a matrix that is filled up with zeros to whole groups and stays so wide"""
    K = scale_NG.shape[1] * group
    filled_NK = torch.nn.functional.pad(codes_NK, (0, K - codes_NK.shape[1]))
    return _with(filled_NK, scale_NG, torch.arange(K) // group)


def cut_off(codes_NK, scale_NG, group):
    """a matrix that ends with its last full group"""
    K = max(codes_NK.shape[1] // group * group, 1)
    return _with(codes_NK[:, :K], scale_NG, torch.arange(K) // group)


def a_divisor(codes_NK, scale_NG, group):
    """another group size, the largest common divisor of both: the scales are not made for it"""
    size = math.gcd(codes_NK.shape[1], group)
    group_K = torch.arange(codes_NK.shape[1]) // size
    return _with(codes_NK, scale_NG, group_K.clamp(max=scale_NG.shape[1] - 1))


def short_group_first(codes_NK, scale_NG, group):
    """the short group at the beginning of the row"""
    missing = -codes_NK.shape[1] % group
    return _with(codes_NK, scale_NG, (torch.arange(codes_NK.shape[1]) + missing) // group)


def rounded_down(codes_NK, scale_NG, group):
    """groups of K / G columns rounded down, and the last one takes the rest"""
    K, G = codes_NK.shape[1], scale_NG.shape[1]
    return _with(codes_NK, scale_NG, (torch.arange(K) // (K // G)).clamp(max=G - 1))
