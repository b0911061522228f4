"""One request as plain values: its tokens, how far they are computed, how it ended. No torch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(eq=False)
class Request:
    """A text on its way. It only ever has to catch up: num_computed towards len(tokens).

    A prompt, a prompt after a prefix hit, a preempted request and a decoding one differ in nothing
    but how much is missing.
    """

    id: int
    tokens: list[int]  # prompt, then what was written
    num_prompt: int
    max_tokens: int
    end_ids: frozenset[int]  # tokens that end it
    params: object = None  # SamplingParams, for the runner
    arrival: float = 0.0  # seconds
    extras: tuple = ()  # what else decides its K and V (prefix cache)
    share_prefix: bool = True  # False: compute every prompt token (prompt_logprobs)
    siblings: list[Request] = field(default_factory=list)  # n > 1: forked after the prompt
    num_computed: int = 0  # tokens whose K and V are in the pool; the scheduler's number
    num_cached: int = 0  # of them, found in the prefix cache at the first admission
    preemptions: int = 0
    finish_reason: str | None = None  # "stop" | "length" | "abort"

    @property
    def pending(self) -> int:
        """Tokens still to compute; 1 while it writes."""
        return len(self.tokens) - self.num_computed

    @property
    def output(self) -> list[int]:
        """What was written so far; a token that ended the text is not part of it."""
        return self.tokens[self.num_prompt :]

    @property
    def longest(self) -> int:
        """Tokens whose K and V it may need in the pool: the last token written needs none."""
        return self.num_prompt + self.max_tokens - 1


def arrival_time(given, now: float) -> float:
    """Seconds of the engine's clock at which a request comes; None is now.

    Raises ValueError for what is no finite number: NaN is before and after nothing, so it would
    stop the line for everybody.
    """
    if given is None:
        return now
    try:
        seconds = float(given)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not math.isfinite(seconds):
        raise ValueError(f"arrival must be a finite number of seconds, or None: {str(given)[:40]}")
    return seconds
