"""Stands in for triton where there is none (macOS, Windows), so that a notebook runs through.

    from minillm.no_triton import tl, triton

Kernels can be written down with it. A launch computes nothing and says so.
"""

from __future__ import annotations

import math

SAID = "(no Triton on this machine: nothing ran. Colab and Linux have it)"


class _Nothing:
    """Any name of triton.language, for annotations."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class _Kernel:
    """What jit returns: kernel[grid](arguments) prints one line."""

    def __init__(self, fn):
        self.fn, self.__name__ = fn, fn.__name__

    def __getitem__(self, grid):
        return lambda *args, **named: print(SAID)


class _Triton:
    """The few names that the notebooks use."""

    jit = staticmethod(_Kernel)

    @staticmethod
    def cdiv(a: int, b: int) -> int:
        """a / b, rounded up."""
        return -(-a // b)

    @staticmethod
    def next_power_of_2(n: int) -> int:
        """The smallest power of two that is at least n."""
        return 1 << math.ceil(math.log2(n)) if n > 1 else 1


triton, tl = _Triton(), _Nothing()
