"""Named wrong answers of 8.5."""

import torch


def _with(x, largest=448, least=-6, mantissa=3, code=torch.round):
    x = x.clamp(-largest, largest)
    exponent = (torch.frexp(x).exponent - 1).clamp(min=least)
    step = torch.exp2((exponent - mantissa).float())
    return code(x / step) * step


def no_subnormals(x):
    """steps that go on shrinking below 2^-6: the exponent has no lower end"""
    return _with(x, least=-40)


def flushes(x):
    """everything below 2^-6 turned into 0"""
    return torch.where(x.abs() < 2**-6, 0.0, _with(x))


def no_upper_end(x):
    """values beyond 448 that stay there"""
    return _with(x, largest=1e9)


def ieee_end(x):
    """a largest value of 240: E4M3 of this kind gives up only one code for NaN, not a whole row"""
    return _with(x, largest=240)


def two_mantissa_bits(x):
    """2 mantissa bits: 4 steps between two powers of two, not 8"""
    return _with(x, mantissa=2)


def cuts(x):
    """cutting off instead of rounding to nearest"""
    return _with(x, code=torch.trunc)


def torch_does_it(x):
    """torch's own float8 type: the rounding was to be done by hand"""
    return x.clamp(-448, 448).to(torch.float8_e4m3fn).to(x.dtype)
