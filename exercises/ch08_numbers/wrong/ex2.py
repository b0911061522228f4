"""Named wrong answers of 8.2."""

import torch


def _with(x, low, high, steps=255, code=torch.round):
    scale = (high - low) / steps
    zero = round(float(-low / scale))
    codes = (code(x / scale) + zero).clamp(0, 255).to(torch.uint8)
    return codes, scale, zero, (codes.float() - zero) * scale


def _ends(x):
    return x.min().clamp(max=0), x.max().clamp(min=0)


def range_without_zero(x):
    """a range from min to max that need not hold 0"""
    return _with(x, x.min(), x.max())


def wraps_without_zero(x):
    """a range from min to max that need not hold 0, and codes that wrap round where uint8 ends"""
    scale = (x.max() - x.min()) / 255
    zero = round(float(-x.min() / scale))
    codes = ((x / scale).round() + zero).to(torch.uint8)
    return codes, scale, zero, (codes - zero) * scale


def symmetric_range(x):
    """a range from -max |x| to +max |x|: codes of one side are never used"""
    return _with(x, -x.abs().max(), x.abs().max())


def by_256(x):
    """dividing by 256: 256 codes have 255 steps between them"""
    return _with(x, *_ends(x), steps=256)


def cuts(x):
    """cutting the fraction off instead of rounding to nearest"""
    return _with(x, *_ends(x), code=torch.trunc)


def forgets_zero(x):
    """codes * scale: the zero is not taken off again"""
    codes, scale, zero, _ = _with(x, *_ends(x))
    return codes, scale, zero, codes.float() * scale


def wraps(x):
    """subtracting the zero in uint8: below 0 it wraps round"""
    codes, scale, zero, _ = _with(x, *_ends(x))
    return codes, scale, zero, (codes - zero) * scale
