"""False mends of 8.7."""

import torch


def _with(weight_NK, group, mend):
    grouped_NGg = weight_NK.unflatten(1, (-1, group))
    scale_NG1 = mend(grouped_NGg.abs().amax(-1, keepdim=True) / 7)
    codes_NGg = torch.round(grouped_NGg / scale_NG1).clamp(-8, 7)
    return (codes_NGg * scale_NG1).flatten(1)


def _or_one(scale):
    return torch.where(scale == 0, 1.0, scale)


def least_scale_1e3(weight_NK, group):
    """a smallest scale, so tiny weights change too: only a scale of exactly 0 needs help"""
    return _with(weight_NK, group, lambda scale: scale.clamp(min=1e-3))


def least_scale_1e5(weight_NK, group):
    """a smallest scale, so tiny weights change too: only a scale of exactly 0 needs help"""
    return _with(weight_NK, group, lambda scale: scale.clamp(min=1e-5))


def least_scale_1e6(weight_NK, group):
    """a smallest scale, so tiny weights change too: only a scale of exactly 0 needs help"""
    return _with(weight_NK, group, lambda scale: scale.clamp(min=1e-6))


def added_1e3_to_all(weight_NK, group):
    """a bit added to every scale, so right weights change: only a scale of exactly 0 needs help"""
    return _with(weight_NK, group, lambda scale: scale + 1e-3)


def added_1e5_to_all(weight_NK, group):
    """a bit added to every scale, so right weights change: only a scale of exactly 0 needs help"""
    return _with(weight_NK, group, lambda scale: scale + 1e-5)


def added_1e6_to_all(weight_NK, group):
    """a bit added to every scale, so right weights change: only a scale of exactly 0 needs help"""
    return _with(weight_NK, group, lambda scale: scale + 1e-6)


def added_1e8_to_all(weight_NK, group):
    """a bit added to every scale, so right weights change: only a scale of exactly 0 needs help"""
    return _with(weight_NK, group, lambda scale: scale + 1e-8)


def row_given_up(weight_NK, group):
    """a scale of 1 for the whole row as soon as one of its groups is zeros"""
    ones = lambda scale: (scale == 0).any(1, keepdim=True)
    return _with(weight_NK, group, lambda scale: torch.where(ones(scale), 1.0, scale))


def any_zero(weight_NK, group):
    """a scale of 1 for every group that holds a zero, not only for groups of nothing else"""
    has = (weight_NK.unflatten(1, (-1, group)) == 0).any(-1, keepdim=True)
    return _with(weight_NK, group, lambda scale: torch.where(has, 1.0, scale))


def without_absolute(weight_NK, group):
    """max w / 7, not max |w| / 7: groups whose largest weight is negative are cut off"""
    grouped_NGg = weight_NK.unflatten(1, (-1, group))
    largest_NG1 = grouped_NGg.amax(-1, keepdim=True).clamp(min=0)
    return _with(weight_NK, group, lambda _: torch.where(largest_NG1 == 0, 1.0, largest_NG1 / 7))


def codes_without_end(weight_NK, group):
    """a scale of (max - min) / 14 with the clamp taken away: codes up to 14 need 5 bits"""
    grouped_NGg = weight_NK.unflatten(1, (-1, group))
    span_NG1 = grouped_NGg.amax(-1, keepdim=True) - grouped_NGg.amin(-1, keepdim=True)
    scale_NG1 = torch.where(span_NG1 == 0, 1.0, span_NG1 / 14)
    return (torch.round(grouped_NGg / scale_NG1) * scale_NG1).flatten(1)


def one_scale_a_row(weight_NK, group):
    """one scale for the whole row: no groups any more"""
    return _with(weight_NK, group, lambda scale: _or_one(scale.amax(1, keepdim=True)))


def shared_by_rows(weight_NK, group):
    """one scale for a group of columns in ALL rows"""
    return _with(weight_NK, group, lambda scale: _or_one(scale.amax(0, keepdim=True)))
