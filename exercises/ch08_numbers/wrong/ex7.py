"""False mends of 8.7."""

import torch


def _with(weight_NK, group, mend):
    grouped_NGg = weight_NK.unflatten(1, (-1, group))
    scale_NG1 = mend(grouped_NGg.abs().amax(-1, keepdim=True) / 7)
    codes_NGg = torch.round(grouped_NGg / scale_NG1).clamp(-8, 7)
    return (codes_NGg * scale_NG1).flatten(1)


def least_scale(weight_NK, group):
    """a least scale of 0.001: groups of small weights become all zeros"""
    return _with(weight_NK, group, lambda scale: scale.clamp(min=1e-3))


def added_to_all(weight_NK, group):
    """0.001 added to every scale: right weights change"""
    return _with(weight_NK, group, lambda scale: scale + 1e-3)


def row_given_up(weight_NK, group):
    """a scale of 1 for the whole row as soon as one of its groups is zeros"""
    ones = lambda scale: (scale == 0).any(1, keepdim=True)
    return _with(weight_NK, group, lambda scale: torch.where(ones(scale), 1.0, scale))


def any_zero(weight_NK, group):
    """a scale of 1 for every group that holds a zero, not only for groups of nothing else"""
    has = (weight_NK.unflatten(1, (-1, group)) == 0).any(-1, keepdim=True)
    return _with(weight_NK, group, lambda scale: torch.where(has, 1.0, scale))
