"""Named wrong answers of 11.2."""

import torch


def _loop(weight_NK, upper_KK, round_column, error, row, sign=-1, first=1):
    """error(work, rounded, original, U, k) -> [N]; row(U, k) -> what the later columns get."""
    work_NK, rounded_NK = weight_NK.clone(), torch.zeros_like(weight_NK)
    for k in range(weight_NK.shape[1]):
        rounded_NK[:, k] = round_column(work_NK[:, k].clone(), k)
        error_N = error(work_NK[:, k], rounded_NK[:, k], weight_NK[:, k], upper_KK, k)
        work_NK[:, k + first :] += sign * error_N[:, None] * row(upper_KK, k)[k + first :]
    return rounded_NK


def _error(work_N, rounded_N, original_N, U, k):
    return (work_N - rounded_N) / U[k, k]


def _row(U, k):
    return U[k]


def rounding_to_nearest(weight_NK, upper_KK, round_column):
    """giving round_column every column as it was at first (nothing is mended)"""
    return _loop(weight_NK, upper_KK, round_column, _error, lambda U, k: 0 * U[k])


def not_divided(weight_NK, upper_KK, round_column):
    """the error without the division by U[k, k]"""
    return _loop(weight_NK, upper_KK, round_column, lambda w, r, o, U, k: w - r, _row)


def divided_twice(weight_NK, upper_KK, round_column):
    """dividing by U[k, k] twice"""
    twice = lambda w, r, o, U, k: (w - r) / U[k, k] ** 2
    return _loop(weight_NK, upper_KK, round_column, twice, _row)


def wrong_direction(weight_NK, upper_KK, round_column):
    """adding to the later columns instead of taking away"""
    return _loop(weight_NK, upper_KK, round_column, _error, _row, sign=1)


def from_the_original(weight_NK, upper_KK, round_column):
    """the error against the original column, not against the column as it was by then"""
    against = lambda w, r, o, U, k: (o - r) / U[k, k]
    return _loop(weight_NK, upper_KK, round_column, against, _row)


def one_column_late(weight_NK, upper_KK, round_column):
    """leaving out the next column: the mending begins at k + 2"""
    return _loop(weight_NK, upper_KK, round_column, _error, _row, first=2)


def next_column_only(weight_NK, upper_KK, round_column):
    """mending the next column only"""
    row = lambda U, k: U[k] * (torch.arange(len(U)) == k + 1)
    return _loop(weight_NK, upper_KK, round_column, _error, row)


def inverse_itself(weight_NK, upper_KK, round_column):
    """rows of the whole inverse H^-1 instead of rows of its factor U"""
    inverse_KK = upper_KK.T @ upper_KK
    return _loop(weight_NK, inverse_KK, round_column, _error, _row)


def not_rounded(weight_NK, upper_KK, round_column):
    """returning the mended columns before they are rounded"""
    work_NK = weight_NK.clone()
    for k in range(weight_NK.shape[1]):
        rounded_N = round_column(work_NK[:, k].clone(), k)
        error_N = (work_NK[:, k] - rounded_N) / upper_KK[k, k]
        work_NK[:, k + 1 :] -= error_N[:, None] * upper_KK[k, k + 1 :]
    return work_NK


def rounded_columns_too(weight_NK, upper_KK, round_column):
    """taking the mending from column k as well, which is rounded already"""
    work_NK = weight_NK.clone()
    for k in range(weight_NK.shape[1]):
        rounded_N = round_column(work_NK[:, k].clone(), k)
        error_N = (work_NK[:, k] - rounded_N) / upper_KK[k, k]
        work_NK[:, k] = rounded_N
        work_NK[:, k:] -= error_N[:, None] * upper_KK[k, k:]
    return work_NK
