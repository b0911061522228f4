"""Judging in the parent: comparisons that name what is wrong, with tolerances that have a reason.

A check's judge(case, output) returns None for a right output and raises Wrong otherwise. Outputs
are plain data from the child: torch tensors, numbers, texts, lists, dicts, None.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

# Relative to the largest expected value. Sums of a few hundred products in fp32 differ by the
# order of summation by up to about sqrt(n) * 2^-24 each; 16-bit formats round at 2^-11, 2^-8.
TOLERANCES = {"exact": 0.0, "fp64": 1e-12, "fp32": 2e-6, "fp16": 2**-10, "bf16": 2**-7}


@dataclass
class Wrong(Exception):
    """An output that is not right. `id` is stable (messages can be translated)."""

    id: str  # "shape", "value", or the check's own: "4.1.sign"
    message: str  # one or two sentences: what was checked and what differs
    index: tuple | None = None  # first differing place
    expected: Any = None
    got: Any = None
    at: int | None = None  # which entry of the output, where that is a list of calls

    def __str__(self) -> str:
        lines = [self.message]
        if self.index:  # a single number has no place
            lines.append(f"first difference at {list(self.index)}")
        if self.expected is not None:
            expected, got = show(self.expected), show(self.got)
            if expected == got:  # they differ further back than `show` goes
                expected, got = repr(self.expected), repr(self.got)
            lines.append(f"expected {expected}, got {got}")
        elif self.got is not None:
            lines.append(f"got {show(self.got)}")
        return "\n".join(lines)


def show(value, limit: int = 200) -> str:
    """A short text of a value for a message."""
    import sys

    torch = sys.modules.get("torch")
    if torch and isinstance(value, torch.Tensor):
        if value.dim() == 0:
            return f"{value.item():.6g}"
        return f"tensor of shape {list(value.shape)}, {str(value.dtype).removeprefix('torch.')}"
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def compare(
    got, want, tolerance: float = 0.0, what: str = "the result", floor: float = 0.0
) -> None:
    """Raise Wrong unless got equals want, part by part.

    Tensors: same dtype and shape, every element within tolerance * max(|want|) (exact: equal).
    Floats likewise; everything else exactly, and of exactly the same type. floor: a difference of
    a float up to this never counts.
    """
    import sys

    torch = sys.modules.get("torch")
    if torch and isinstance(want, torch.Tensor):
        return _tensors(got, want, tolerance, what, floor)
    if isinstance(want, dict):
        _type(got, want, what)
        if set(got) != set(want):
            raise Wrong("keys", f"{what} has other keys", None, sorted(want), sorted(got))
        for key in want:
            compare(got[key], want[key], tolerance, f"{what}[{key!r}]", floor)
    elif isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)):
            _type(got, want, what)
        if len(got) != len(want):
            raise Wrong("length", f"{what} has another length", None, len(want), len(got))
        for place, (g, w) in enumerate(zip(got, want)):
            compare(g, w, tolerance, f"{what}[{place}]", floor)
    elif isinstance(want, float):
        number(got, what)
        if not abs(got - want) <= max(tolerance * max(abs(want), 1e-300), floor) and got != want:
            raise Wrong("value", f"{what} is another number", None, want, got)
    else:
        if type(want) is int and type(got).__module__ == "numpy":
            got = _item(got)
        _type(got, want, what)
        if got != want:
            raise Wrong("value", f"{what} is different", None, want, got)


def number(got, what: str = "the answer") -> float:
    """`got` as a float; Wrong if it is not a finite number."""
    got = _item(got)
    if isinstance(got, bool) or not isinstance(got, (int, float)):
        raise Wrong("type", f"{what} must be a number, yours is {type(got).__name__}: {show(got)}")
    if not math.isfinite(got):
        raise Wrong("nan", f"{what} is {got}, not a finite number")
    return float(got)


def _item(got):
    """A tensor or NumPy array of one number as a plain number; anything else as it is."""
    import sys

    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch and isinstance(got, torch.Tensor) and got.numel() == 1:
        return got.item()
    if numpy and isinstance(got, (numpy.generic, numpy.ndarray)) and got.size == 1:
        return got.item()
    return got


def within(got, want: float, band: float, what: str = "the answer") -> None:
    """Raise Wrong unless got is within `band` (0.25 is 25%) of want.

    It says in which direction, and roughly how far: an exact factor would give the answer away.
    """
    value = number(got, what)
    if abs(value - want) > band * abs(want):
        raise Wrong("band", f"{what} is {_how_far(value, want, band)}")


def _how_far(value: float, want: float, band: float) -> str:
    side = "too large" if value > want else "too small"
    if value == 0 or value * want < 0 or want == 0:
        return f"{side}; {band:.0%} off is allowed"
    powers = abs(math.log10(abs(value)) - math.log10(abs(want)))
    if powers < 1:
        least = 1 + band if value > want else 1 / (1 - band)
        return f"between {least:.2g} and 10 times {side}; {band:.0%} off is allowed"
    factor = "10" if round(powers) == 1 else f"10^{powers:.0f}"
    return f"about {factor} times {side}: look at the units"


def _type(got, want, what: str) -> None:
    if type(got) is type(want):
        return
    kind = type(want).__name__
    text = f"{what} must be {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    if got is None:
        raise Wrong("type", f"{text}, yours is None: is a `return` missing?")
    raise Wrong("type", f"{text}, yours is {type(got).__name__}: {_whole(got)}")


def _whole(got) -> str:
    """9.0 stays 9.0 where the complaint is that it is not 9."""
    return repr(got) if isinstance(got, float) else show(got)


def _tensors(got, want, tolerance: float, what: str, floor: float) -> None:
    import torch

    if got is None:
        raise Wrong("type", f"{what} must be a tensor, yours is None: is a `return` missing?")
    if type(got) is not torch.Tensor:
        raise Wrong("type", f"{what} must be a tensor, yours is {type(got).__name__}: {show(got)}")
    if got.shape != want.shape:
        raise Wrong("shape", f"{what} has another shape", None, list(want.shape), list(got.shape))
    if got.dtype != want.dtype:
        raise Wrong("dtype", f"{what} has another dtype", None, str(want.dtype), str(got.dtype))
    if not want.numel():
        return
    if not got.dtype.is_floating_point:
        bad = got != want
        big = 0
    else:
        got64, want64 = got.double(), want.double()
        if bool((got64.isnan() & ~want64.isnan()).any()):
            place = _first(got64.isnan() & ~want64.isnan())
            raise Wrong("nan", f"{what} holds NaN", place, float(want64[place]), float("nan"))
        finite = want64[want64.isfinite()].abs()
        big = float(finite.max()) if finite.numel() else 0.0
        near = (got64 - want64).abs() <= max(tolerance * big, floor)
        bad = ~(near | (got64 == want64) | (got64.isnan() & want64.isnan()))
    if bool(bad.any()):
        place = _first(bad)
        count, kind = int(bad.sum()), "entries" if got.dtype == torch.bool else "numbers"
        message = f"{what} has the right shape, but {count} of {bad.numel()} {kind} differ"
        if bad.dim() == 0:
            message = f"{what} is another number"
        raise Wrong("value", message, place, got=got[place].item(), expected=want[place].item())


def _first(mask) -> tuple[int, ...]:
    return tuple(mask.nonzero()[0].tolist())


def normal(rng: random.Random, *shape: int, dtype=None, scale: float = 1.0):
    """A tensor of random normal numbers, decided by `rng` (default float32)."""
    import torch

    generator = torch.Generator().manual_seed(rng.getrandbits(60))
    values = torch.randn(*shape, generator=generator, dtype=torch.float64) * scale
    return values.to(dtype or torch.float32)
