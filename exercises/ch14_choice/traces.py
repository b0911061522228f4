"""The requests of 14.5, and how an order serves them: the engine's scheduler on paper. No torch."""

from __future__ import annotations

import functools
import random

from minillm.config import EngineConfig, ModelConfig
from minillm.engine.metrics import RequestMetrics, percentile
from minillm.engine.on_paper import PaperJob, serve_on_paper

QWEN = ModelConfig(  # Qwen/Qwen3-0.6B, from its config.json
    family="qwen3", num_layers=28, width=1024, mlp_width=3072, num_heads=16, num_kv_heads=8,
    vocab_size=151936, head_size=128, max_len=40960, tie_embeddings=True, qk_norm=True,
)  # fmt: skip
SEATS, COUNT, RATE = 4, 120, 44  # requests at a time, requests in all, requests a second
LONG = 20  # one request in so many has a long answer
LESS, LONGER = 0.8, 1.25  # p95 TTFT at most, longest wait at most: times first come, first served


def trace(seed: int) -> list[PaperJob]:
    """More requests than four seats can serve at once: most are short, one in 20 is long."""
    rng, now, jobs = random.Random(f"queue {seed}"), 0.0, []
    for number in range(COUNT):
        now += rng.uniform(0.5, 1.5) / RATE
        if number % LONG == LONG // 3:
            prompt, answer = rng.randrange(100, 400), rng.randrange(200, 400)
        else:
            prompt, answer = rng.randrange(20, 200), rng.randrange(4, 24)
        jobs.append(PaperJob(round(now, 3), prompt, answer))
    return jobs


def serve(seed: int, policy=None, orders: list | None = None) -> list[RequestMetrics]:
    """Times of all requests. policy(request, now): the smallest number goes first.

    orders: takes the places of all that wait, step by step, as the policy put them in order.
    """

    def order(waiting, now):
        numbers = [policy(facts(request), now) for request in waiting]
        places = sorted(range(len(waiting)), key=numbers.__getitem__)
        if orders is not None:
            orders.append(places)
        return [waiting[place] for place in places]

    return _serve(seed, order if policy else None)


def replay(seed: int, orders: list) -> list[RequestMetrics]:
    """The same from the orders alone. ValueError if they are not those of this trace."""
    left = iter(orders)

    def order(waiting, now):
        places = next(left, None)
        if not isinstance(places, list) or sorted(places) != list(range(len(waiting))):
            raise ValueError("these are not the orders of this trace")
        return [waiting[place] for place in places]

    return _serve(seed, order)


def _serve(seed: int, order) -> list[RequestMetrics]:
    config = EngineConfig(max_num_seqs=SEATS)
    return serve_on_paper(QWEN, trace(seed), config, order=order)


def facts(request) -> dict:
    """What a policy may know of a waiting request."""
    known = {"arrival": request.arrival, "prompt": request.num_prompt}
    return known | {"answer": request.max_tokens}


def figures(ttft: list[float]) -> tuple[float, float]:
    """(p95, longest) of the times to the first token."""
    return percentile(ttft, 0.95), max(ttft)


@functools.cache
def first_come(seed: int) -> tuple[float, float]:
    """The figures to beat."""
    return figures([m.ttft for m in serve(seed)])
