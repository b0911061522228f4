"""Time a few functions in turns: a machine that slows down slows all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from minillm.bench_stats import median, turn


def times_in_turns(works: Mapping[str, Callable], rounds: int) -> dict[str, list[float]]:
    """{name: function} -> {name: seconds of each of its runs}.

    Every time all functions run, one after the other, and the next time in the opposite order.
    The first time only warms up and is not counted.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name in turn(works, number):
            start = time.perf_counter()
            works[name]()
            if number:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def in_turns(works: Mapping[str, Callable], rounds: int) -> dict[str, float]:
    """{name: function} -> {name: median seconds}."""
    return {name: median(each) for name, each in times_in_turns(works, rounds).items()}
