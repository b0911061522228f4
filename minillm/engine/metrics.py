"""The answer of a request, when things happened, and the names of the differences. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class RequestMetrics:
    """One request's times, in seconds of the engine's clock."""

    arrival: float
    started: float | None = None  # first step that computed anything of it
    token_times: list[float] = field(default_factory=list)  # end of the step that wrote each
    finished: float | None = None
    num_cached: int = 0  # prompt tokens found in the prefix cache
    preemptions: int = 0

    @property
    def queue(self) -> float | None:
        """Waiting before the first step."""
        return None if self.started is None else self.started - self.arrival

    @property
    def ttft(self) -> float | None:
        """Time to first token, waiting included."""
        return self.token_times[0] - self.arrival if self.token_times else None

    @property
    def tpot(self) -> float | None:
        """Time per output token after the first."""
        times = self.token_times
        return (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None

    @property
    def gaps(self) -> list[float]:
        """Inter-token latencies: seconds between one token and the next."""
        return [b - a for a, b in zip(self.token_times, self.token_times[1:])]


@dataclass(frozen=True)
class Completion:
    """One finished answer."""

    text: str
    tokens: list[int]
    finish_reason: str  # "stop" | "length" | "abort"
    metrics: RequestMetrics
    logprobs: list[dict[int, float]] | None = None
    prompt_logprobs: list[dict[int, float] | None] | None = None


@dataclass
class EngineMetrics:
    """Sums over all steps of an engine."""

    steps: int = 0
    computed: int = 0  # tokens through the model
    written: int = 0  # tokens sampled
    preemptions: int = 0
    prompt_tokens: int = 0  # of admitted requests
    cached_tokens: int = 0  # of them, found in the prefix cache
    seat_steps: int = 0  # requests that computed something, summed over steps
    schedule_seconds: float = 0.0
    run_seconds: float = 0.0
    held_slots: int = 0  # slots of blocks held by running requests, summed over steps
    held_tokens: int = 0  # tokens in them

    def count(self, plan, schedule_seconds: float, run_seconds: float) -> None:
        """Add one step."""
        self.steps += 1
        self.computed += plan.num_tokens
        self.seat_steps += len(plan.items)
        self.preemptions += len(plan.preempted)
        self.schedule_seconds += schedule_seconds
        self.run_seconds += run_seconds

    def hold(self, running, blocks) -> None:
        """Add what the running requests hold between two steps."""
        tables = blocks.holdings
        self.held_slots += blocks.block_size * sum(len(tables[r.id].table) for r in running)
        self.held_tokens += sum(r.num_computed for r in running)

    @property
    def waste(self) -> float:
        """Share of held cache slots without a token, mean over steps (weighted by slots)."""
        return 1 - self.held_tokens / self.held_slots if self.held_slots else 0.0

    @property
    def prefix_hits(self) -> float:
        """Share of prompt tokens that were not computed."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, by linear interpolation (share 0.95: p95).

    Raises ValueError for no values or a share outside 0..1.
    """
    if not values or not 0 <= share <= 1:
        raise ValueError(f"percentile of {len(values)} values at {share}")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
