"""The standard workload W: the same 32 requests for every row of the scoreboard. No torch here.

Lengths are skewed, as in real traffic: most answers are short, a few are long (log-normal, which
fits published traces of chat services in shape). Text does not matter for speed, so the tokens are
drawn by chance. All requests are there at the start.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SEED = "workload W, 10"  # of ten tried: the first 4 and 8 hold an eighth and a quarter of the work
COUNT = 32
MAX_PROMPT, MAX_ANSWER = 192, 160  # tokens
BUDGET = 128 * 10**6  # bytes for weights and cache together


@dataclass(frozen=True)
class Job:
    """One request of W."""

    prompt: tuple[int, ...]  # token ids
    answer: int  # tokens to write, exactly (an end-of-text token does not stop it)


def workload(vocab_size: int, count: int = COUNT) -> list[Job]:
    """The first `count` requests of W, for a model with this vocabulary."""
    if not 1 <= count <= COUNT:
        raise ValueError(f"W has {COUNT} requests, {count} were asked for")
    rng = random.Random(SEED)
    lengths = [
        (_skewed(rng, 3.6, 0.8, 8, MAX_PROMPT), _skewed(rng, 2.8, 0.95, 4, MAX_ANSWER))
        for _ in range(COUNT)
    ]
    draw = random.Random(f"{SEED}, tokens")
    jobs = [Job(tuple(draw.randrange(1, vocab_size) for _ in range(p)), a) for p, a in lengths]
    return jobs[:count]


def _skewed(rng: random.Random, mean: float, spread: float, low: int, high: int) -> int:
    """A log-normal length between low and high."""
    return min(high, max(low, round(rng.lognormvariate(mean, spread))))
