"""Named wrong answers of 12.5."""

import torch


def _step(work_NK, upper_KK, k, drop_N, error=None, row=None, cost=None, first=1):
    """error(w, U) -> [N], row(U) -> [K], cost(w, U) -> [N]; by default the right ones."""
    w_N, new_NK = work_NK[:, k], work_NK.clone()
    pivot = upper_KK[k, k]
    error_N = torch.where(drop_N, w_N, 0.0) / pivot if error is None else error(w_N, pivot)
    row_K = upper_KK[k] if row is None else row
    new_NK[drop_N, k] = 0
    new_NK[:, k + first :] -= error_N[:, None] * row_K[k + first :]
    return new_NK, ((w_N / pivot) ** 2 if cost is None else cost(w_N, pivot))


def dropped_only(work_NK, upper_KK, k, drop_N):
    """dropping without mending, as magnitude and Wanda do"""
    return _step(work_NK, upper_KK, k, drop_N, row=0 * upper_KK[k])


def every_row_mended(work_NK, upper_KK, k, drop_N):
    """mending in all rows, as if each had lost its weight"""
    return _step(work_NK, upper_KK, k, drop_N, error=lambda w, u: w / u)


def not_divided(work_NK, upper_KK, k, drop_N):
    """the error without the division by U[k, k]"""
    return _step(work_NK, upper_KK, k, drop_N, error=lambda w, u: torch.where(drop_N, w, 0.0))


def divided_twice(work_NK, upper_KK, k, drop_N):
    """the error divided by U[k, k]^2"""
    twice = lambda w, u: torch.where(drop_N, w, 0.0) / u**2
    return _step(work_NK, upper_KK, k, drop_N, error=twice)


def wrong_direction(work_NK, upper_KK, k, drop_N):
    """adding to the later columns, not taking away"""
    return _step(work_NK, upper_KK, k, drop_N, row=-upper_KK[k])


def next_column_only(work_NK, upper_KK, k, drop_N):
    """mending the next column only"""
    row_K = upper_KK[k] * (torch.arange(len(upper_KK)) == k + 1)
    return _step(work_NK, upper_KK, k, drop_N, row=row_K)


def inverse_itself(work_NK, upper_KK, k, drop_N):
    """the row and the diagonal of H^-1 itself, not of its factor U"""
    return _step(work_NK, upper_KK.T @ upper_KK, k, drop_N)


def column_of_u(work_NK, upper_KK, k, drop_N):
    """a column of U where a row is meant: it has zeros below, so only column k itself is mended"""
    return _step(work_NK, upper_KK, k, drop_N, row=upper_KK[:, k], first=0)


def filled_again(work_NK, upper_KK, k, drop_N):
    """column k among the mended ones: what was made 0 becomes -w"""
    return _step(work_NK, upper_KK, k, drop_N, first=0)


def cost_is_the_size(work_NK, upper_KK, k, drop_N):
    """cost: w^2, as if nothing else depended on the input"""
    return _step(work_NK, upper_KK, k, drop_N, cost=lambda w, u: w**2)


def cost_not_squared(work_NK, upper_KK, k, drop_N):
    """cost: w^2 / U[k, k], where U[k, k] is squared, too"""
    return _step(work_NK, upper_KK, k, drop_N, cost=lambda w, u: w**2 / u)


def cost_multiplied(work_NK, upper_KK, k, drop_N):
    """cost: (w * U[k, k])^2: multiplied where it is divided"""
    return _step(work_NK, upper_KK, k, drop_N, cost=lambda w, u: (w * u) ** 2)


def cost_of_the_dropped(work_NK, upper_KK, k, drop_N):
    """cost: 0 in the rows that keep their weight: it is what dropping WOULD cost"""
    kept = lambda w, u: torch.where(drop_N, w / u, 0.0) ** 2
    return _step(work_NK, upper_KK, k, drop_N, cost=kept)


def kept_ones_dropped(work_NK, upper_KK, k, drop_N):
    """True taken for "stays": the other rows are dropped"""
    return _step(work_NK, upper_KK, k, ~drop_N)


def nearly_zero(work_NK, upper_KK, k, drop_N):
    """a dropped weight that is only very small: a matrix without one zero more"""
    new_NK, cost_N = _step(work_NK, upper_KK, k, drop_N)
    new_NK[drop_N, k] = 1e-9 * work_NK[drop_N, k]
    return new_NK, cost_N
