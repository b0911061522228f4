"""Named wrong answers of 8.1."""

import torch


def _with(x, scale, code=torch.round):
    codes = code(x / scale).clamp(-128, 127).to(torch.int8)
    return codes, scale, codes * scale


def cuts(x):
    """cutting the fraction off instead of rounding to nearest"""
    return _with(x, x.abs().max() / 127, torch.trunc)


def rounds_down(x):
    """rounding down (floor) instead of to nearest"""
    return _with(x, x.abs().max() / 127, torch.floor)


def by_128(x):
    """dividing by 128: the largest value has no code"""
    return _with(x, x.abs().max() / 128)


def whole_range(x):
    """a step of (max - min) / 255 with no zero point"""
    return _with(x, (x.max() - x.min()) / 255)


def largest_only(x):
    """max(x) in place of max |x|: a large x below 0 has no code, and is cut off"""
    return _with(x, x.max() / 127)


def largest_only_wraps(x):
    """max(x) in place of max |x|: a large x below 0 has no code in int8, and wraps round"""
    scale = x.max() / 127
    codes = (x / scale).round().to(torch.int8)
    return codes, scale, codes * scale


def half_the_bits(x):
    """a step of max / 255: codes above 127 do not fit and are clipped"""
    return _with(x, x.abs().max() / 255)


def no_scale_back(x):
    """returning the codes as the values: not multiplied by the scale again"""
    codes, scale, _ = _with(x, x.abs().max() / 127)
    return codes, scale, codes.float()
