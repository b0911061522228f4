"""Named wrong answers of 9.5."""

import torch


def _int8(x_TK, codes_NK, scale_T1=None):
    if scale_T1 is None:
        scale_T1 = x_TK.abs().amax(1, keepdim=True) / 127
        scale_T1 = torch.where(scale_T1 == 0, 1.0, scale_T1)
    q_TK = (x_TK / scale_T1).round().clamp(-127, 127).int()
    return (q_TK @ codes_NK.int().T) * scale_T1


def _apart(x_TK, codes_NK, large_K):
    return x_TK[:, large_K] @ codes_NK[:, large_K].float().T


def _large(x_TK, threshold):
    return (x_TK.abs() > threshold).any(0)


def no_split(x_TK, codes_NK, scale_N, threshold):
    """everything in int8, without a split"""
    return _int8(x_TK, codes_NK) * scale_N


def all_in_float(x_TK, codes_NK, scale_N, threshold):
    """everything in float32 (nothing is coded)"""
    return x_TK @ codes_NK.float().T * scale_N


def counted_twice(x_TK, codes_NK, scale_N, threshold):
    """outlier columns that stay in the int8 part, too (they count twice)"""
    apart_TN = _apart(x_TK, codes_NK, _large(x_TK, threshold))
    return (_int8(x_TK, codes_NK) + apart_TN) * scale_N


def dropped(x_TK, codes_NK, scale_N, threshold):
    """outlier columns thrown away"""
    return _int8(x_TK.masked_fill(_large(x_TK, threshold), 0), codes_NK) * scale_N


def scale_with_outliers(x_TK, codes_NK, scale_N, threshold):
    """the scale of a token taken before the outliers are out"""
    large_K = _large(x_TK, threshold)
    scale_T1 = x_TK.abs().amax(1, keepdim=True) / 127
    scale_T1 = torch.where(scale_T1 == 0, 1.0, scale_T1)
    rest_TN = _int8(x_TK.masked_fill(large_K, 0), codes_NK, scale_T1)
    return (rest_TN + _apart(x_TK, codes_NK, large_K)) * scale_N


def split_by_tokens(x_TK, codes_NK, scale_N, threshold):
    """a split by tokens: a token that has an outlier is multiplied in float32 as a whole"""
    large_T1 = (x_TK.abs() > threshold).any(1, keepdim=True)
    return torch.where(large_T1, x_TK @ codes_NK.float().T, _int8(x_TK, codes_NK)) * scale_N


def single_numbers(x_TK, codes_NK, scale_N, threshold):
    """a split by single numbers: small numbers of an outlier column are coded"""
    large_TK = x_TK.abs() > threshold
    apart_TN = x_TK.masked_fill(~large_TK, 0) @ codes_NK.float().T
    return (_int8(x_TK.masked_fill(large_TK, 0), codes_NK) + apart_TN) * scale_N


def without_the_sign(x_TK, codes_NK, scale_N, threshold):
    """x > threshold instead of |x| > threshold"""
    large_K = (x_TK > threshold).any(0)
    rest_TN = _int8(x_TK.masked_fill(large_K, 0), codes_NK)
    return (rest_TN + _apart(x_TK, codes_NK, large_K)) * scale_N


def every_token(x_TK, codes_NK, scale_N, threshold):
    """a column only where ALL tokens are above the threshold"""
    large_K = (x_TK.abs() > threshold).all(0)
    rest_TN = _int8(x_TK.masked_fill(large_K, 0), codes_NK)
    return (rest_TN + _apart(x_TK, codes_NK, large_K)) * scale_N


def unscaled_outliers(x_TK, codes_NK, scale_N, threshold):
    """leaving out the scales of the weights for the outlier columns"""
    large_K = _large(x_TK, threshold)
    rest_TN = _int8(x_TK.masked_fill(large_K, 0), codes_NK)
    return rest_TN * scale_N + _apart(x_TK, codes_NK, large_K)
