"""Named wrong answers of 9.4."""

import torch


def _scale(x_TK, dim=1):
    scale = x_TK.abs().amax(dim, keepdim=True) / 127
    return torch.where(scale == 0, 1.0, scale)


def _code(ratio):
    return ratio.round().clamp(-127, 127).to(torch.int8)


def _sum(q_TK, codes_NK):
    return q_TK.int() @ codes_NK.int().T


def one_scale_for_all(x_TK, codes_NK, scale_N):
    """one scale for all tokens (the largest token makes the others coarse)"""
    scale = _scale(x_TK, (0, 1))
    sum_TN = _sum(_code(x_TK / scale), codes_NK)
    return sum_TN, sum_TN * scale * scale_N


def a_scale_a_column(x_TK, codes_NK, scale_N):
    """a scale for each column of x (it cannot leave the sum over columns)"""
    scale_1K = _scale(x_TK, 0)
    sum_TN = _sum(_code(x_TK / scale_1K), codes_NK)
    return sum_TN, sum_TN * scale_1K.mean() * scale_N


def sums_in_int8(x_TK, codes_NK, scale_N):
    """a sum that wraps around at 127 (int8)"""
    scale_T1 = _scale(x_TK)
    sum_TN = _sum(_code(x_TK / scale_T1), codes_NK).to(torch.int8).int()
    return sum_TN, sum_TN * scale_T1 * scale_N


def sums_in_int16(x_TK, codes_NK, scale_N):
    """a sum that wraps around at 32,767 (int16)"""
    scale_T1 = _scale(x_TK)
    sum_TN = _sum(_code(x_TK / scale_T1), codes_NK).to(torch.int16).int()
    return sum_TN, sum_TN * scale_T1 * scale_N


def no_weight_scale(x_TK, codes_NK, scale_N):
    """leaving out the scales of the weights"""
    scale_T1 = _scale(x_TK)
    sum_TN = _sum(_code(x_TK / scale_T1), codes_NK)
    return sum_TN, sum_TN * scale_T1


def no_token_scale(x_TK, codes_NK, scale_N):
    """leaving out the scales of the tokens"""
    sum_TN = _sum(_code(x_TK / _scale(x_TK)), codes_NK)
    return sum_TN, sum_TN * scale_N


def cuts_instead_of_rounding(x_TK, codes_NK, scale_N):
    """cutting the fraction off instead of rounding"""
    scale_T1 = _scale(x_TK)
    sum_TN = _sum((x_TK / scale_T1).to(torch.int8), codes_NK)
    return sum_TN, sum_TN * scale_T1 * scale_N


def activations_in_float(x_TK, codes_NK, scale_N):
    """weight-only: the activations are not coded, and the product is one of floats"""
    out_TN = x_TK @ codes_NK.float().T * scale_N
    return (out_TN / scale_N / _scale(x_TK)).round().int(), out_TN
