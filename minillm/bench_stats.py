"""The middle of a few noisy measurements, and how sure it is: no assumption on their spread."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

ENOUGH = 15  # pairs below which no ratio is claimed


def median(values: Sequence[float]) -> float:
    """Middle value; of an even number, the mean of the two in the middle. ValueError for none."""
    if not values:
        raise ValueError("the median of nothing")
    ordered, middle = sorted(values), len(values) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return ordered[middle - 1] + (ordered[middle] - ordered[middle - 1]) / 2


def median_interval(
    values: Sequence[float], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Two of the values with the true median between them at least that surely, or None.

    Each sample lies below the true median with probability 1/2, so the rank of the median is
    binomial (order statistics; David & Nagaraja 2003, section 7.1). The narrowest symmetric pair
    of ranks is taken. 5 values are too few for 95%: even all of them cover only 93.75%.
    """
    count, ordered = len(values), sorted(values)
    best = None
    for rank in range(1, count // 2 + 1):  # from the outside in; 1 is the smallest value
        missed = 2 * sum(math.comb(count, i) for i in range(rank)) / 2**count
        if 1 - missed < confidence:
            break
        best = ordered[rank - 1], ordered[count - rank]
    return best


def summary(values: Sequence[float]) -> dict:
    """{"median", "low", "high", "least", "most", "count"}; low and high: 95% interval or None."""
    low, high = median_interval(values) or (None, None)
    ends = {"least": min(values), "most": max(values), "count": len(values)}
    return {"median": median(values), "low": low, "high": high} | ends


def turn(names: Iterable[str], number: int) -> list[str]:
    """The order of round `number`: turned round every time, so that nobody always goes first."""
    ordered = list(names)
    return ordered if number % 2 == 0 else ordered[::-1]
