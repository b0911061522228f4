"""Named wrong answers of 13.1."""

import torch
from torch.nn.functional import silu


def _hidden(gate_FD, up_FD, x_TD):
    return silu(x_TD @ gate_FD.T) * (x_TD @ up_FD.T)


def _sizes(matrices, x_TD):
    """The two factors: mean square of h, squared norm of the column of down."""
    gate_FD, up_FD, down_DF = matrices
    return (_hidden(gate_FD, up_FD, x_TD) ** 2).mean(0), (down_DF**2).sum(0)


def _cut(matrices, kept):
    gate_FD, up_FD, down_DF = matrices
    return gate_FD[kept], up_FD[kept], down_DF[:, kept]


def _best(score_F, keep):
    return score_F.argsort(descending=True, stable=True)[:keep].sort().values


def smallest_kept(*given):
    """keeping the channels that add LEAST"""
    *matrices, x_TD, keep = given
    inside_F, column_F = _sizes(matrices, x_TD)
    return _cut(matrices, (inside_F * column_F).argsort(stable=True)[:keep].sort().values)


def in_order_of_importance(*given):
    """the right channels, the most important first (not in their old order)"""
    *matrices, x_TD, keep = given
    inside_F, column_F = _sizes(matrices, x_TD)
    return _cut(matrices, (inside_F * column_F).argsort(descending=True, stable=True)[:keep])


def without_down(*given):
    """the mean of h squared alone: a channel that down hardly reads is kept"""
    *matrices, x_TD, keep = given
    return _cut(matrices, _best(_sizes(matrices, x_TD)[0], keep))


def down_alone(*given):
    """the column of down alone, without looking at any text"""
    *matrices, x_TD, keep = given
    return _cut(matrices, _best(_sizes(matrices, x_TD)[1], keep))


def square_of_the_mean(*given):
    """the square of the mean of h: what is positive and negative in turn counts as nothing"""
    *matrices, x_TD, keep = given
    mean_F = _hidden(*matrices[:2], x_TD).mean(0)
    return _cut(matrices, _best(mean_F**2 * _sizes(matrices, x_TD)[1], keep))


def norm_not_squared(*given):
    """the norm of the column of down, not its square"""
    *matrices, x_TD, keep = given
    inside_F, column_F = _sizes(matrices, x_TD)
    return _cut(matrices, _best(inside_F * column_F.sqrt(), keep))


def mean_of_sizes(*given):
    """the mean of |h|, not of h squared"""
    *matrices, x_TD, keep = given
    inside_F = _hidden(*matrices[:2], x_TD).abs().mean(0)
    return _cut(matrices, _best(inside_F * _sizes(matrices, x_TD)[1], keep))


def mean_size_times_norm(*given):
    """the mean of |h| times the norm of the column of down: nothing squared"""
    *matrices, x_TD, keep = given
    inside_F = _hidden(*matrices[:2], x_TD).abs().mean(0)
    return _cut(matrices, _best(inside_F * _sizes(matrices, x_TD)[1].sqrt(), keep))


def gate_alone(*given):
    """silu of the gate as h, without the product with up"""
    *matrices, x_TD, keep = given
    inside_F = (silu(x_TD @ matrices[0].T) ** 2).mean(0)
    return _cut(matrices, _best(inside_F * _sizes(matrices, x_TD)[1], keep))


def without_silu(*given):
    """gate times up, without the silu"""
    *matrices, x_TD, keep = given
    inside_F = (((x_TD @ matrices[0].T) * (x_TD @ matrices[1].T)) ** 2).mean(0)
    return _cut(matrices, _best(inside_F * _sizes(matrices, x_TD)[1], keep))


def silu_on_up(*given):
    """silu on up, not on gate"""
    gate_FD, up_FD, down_DF, x_TD, keep = given
    inside_F = (_hidden(up_FD, gate_FD, x_TD) ** 2).mean(0)
    return _cut(given[:3], _best(inside_F * (down_DF**2).sum(0), keep))


def largest_square(*given):
    """the largest h squared of any token, not the mean"""
    *matrices, x_TD, keep = given
    inside_F = (_hidden(*matrices[:2], x_TD) ** 2).amax(0)
    return _cut(matrices, _best(inside_F * _sizes(matrices, x_TD)[1], keep))


def later_stays_on_a_tie(*given):
    """on a tie the channel with the HIGHER number stays"""
    *matrices, x_TD, keep = given
    inside_F, column_F = _sizes(matrices, x_TD)
    best = (inside_F * column_F).flip(0).argsort(descending=True, stable=True)[:keep]
    return _cut(matrices, (len(column_F) - 1 - best).sort().values)


def down_not_cut_alike(*given):
    """the first `keep` columns of down: they belong to other channels than the rows"""
    *matrices, x_TD, keep = given
    inside_F, column_F = _sizes(matrices, x_TD)
    gate_FD, up_FD, _ = _cut(matrices, _best(inside_F * column_F, keep))
    return gate_FD, up_FD, matrices[2][:, :keep]


def set_to_zero(*given):
    """the other channels set to 0: the matrices are as large as before"""
    *matrices, x_TD, keep = given
    inside_F, column_F = _sizes(matrices, x_TD)
    stays_F = torch.zeros_like(column_F)
    stays_F[_best(inside_F * column_F, keep)] = 1
    gate_FD, up_FD, down_DF = matrices
    return gate_FD * stays_F[:, None], up_FD * stays_F[:, None], down_DF * stays_F
