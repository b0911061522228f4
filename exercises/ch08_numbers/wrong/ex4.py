"""Named wrong answers of 8.4."""

from math import erf


def whole_step(outlier):
    """counting all weights below a whole step (nearest: below half a step)"""
    return [erf(largest / 7 / 2**0.5) for largest in (4, outlier)]


def without_root(outlier):
    """erf(a) in place of erf(a / sqrt(2))"""
    return [erf(largest / 14) for largest in (4, outlier)]


def one_side(outlier):
    """counting only the weights above zero: half of them"""
    return [erf(largest / 14 / 2**0.5) / 2 for largest in (4, outlier)]


def nothing_changes(outlier):
    """the outlier changing only its own weight, not the scale of the others"""
    return [erf(4 / 14 / 2**0.5)] * 2


def as_if_uniform(outlier):
    """taking the weights to be spread evenly over the range: 1 code of 15"""
    return [1 / 15, 1 / 15]


def as_int8(outlier):
    """the step of int8, max / 127"""
    return [erf(largest / 254 / 2**0.5) for largest in (4, outlier)]
