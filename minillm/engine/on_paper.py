"""Serve requests on paper: the real scheduler and the paper GPU's clock, no model. No torch here.

What a request costs depends on its lengths, not on its words. So where only time is asked for, a
model of any size can be served in a second: plans are the scheduler's, each step is charged as
minillm.engine.llm does, and the tokens are blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from minillm.cache.blocks import BlockManager
from minillm.clock import VirtualClock, batch_cost, largest_batch
from minillm.config import EngineConfig, ModelConfig
from minillm.engine.metrics import RequestMetrics
from minillm.engine.request import Request
from minillm.engine.scheduler import Plan, Scheduler


@dataclass(frozen=True)
class PaperJob:
    """One request."""

    arrival: float  # seconds
    prompt: int  # tokens
    answer: int  # tokens to write


def serve_on_paper(
    config: ModelConfig,
    jobs: Sequence[PaperJob],
    engine: EngineConfig | None = None,
    weight_bytes: float = 2,
    kv_bytes: float = 2,
    order: Callable[[list[Request], float], list[Request]] | None = None,
) -> list[RequestMetrics]:
    """Times of all requests, in their order. The jobs must be sorted by arrival.

    engine: its clock, if any, is used and moved on; num_blocks=None: what the device's memory
    holds beside the weights. weight_bytes, kv_bytes: of one number. order(waiting, now): who is to
    start first (Scheduler.order); None is first come, first served.
    """
    engine = engine or EngineConfig()
    clock = engine.clock or VirtualClock()
    if engine.num_blocks is None:
        room = largest_batch(config, 1, weight_bytes, kv_bytes, clock.device.memory)
        engine = replace(engine, num_blocks=max(1, room // engine.block_size))
    blocks = BlockManager(engine.num_blocks, engine.block_size, False)
    scheduler = Scheduler(engine, blocks, engine.max_model_len or config.max_len)
    if order:
        scheduler.order = lambda waiting: order(waiting, clock.now)
    times = [RequestMetrics(job.arrival) for job in jobs]
    come, unfinished = 0, len(jobs)
    while unfinished:
        idle = not scheduler.waiting and not scheduler.running
        if idle and jobs[come].arrival > clock.now:
            clock.advance(jobs[come].arrival - clock.now)
        while come < len(jobs) and jobs[come].arrival <= clock.now:
            scheduler.add(_request(come, jobs[come]))
            come += 1
        plan = scheduler.schedule()
        for request, _ in plan.items:
            if times[request.id].started is None:
                times[request.id].started = clock.now
        batch = [(count, request.num_computed + count) for request, count in plan.items]
        clock.charge(batch_cost(config, batch, weight_bytes, kv_bytes))
        unfinished -= _commit(scheduler, plan, times, clock.now)
    return times


def _request(number: int, job: PaperJob) -> Request:
    tokens = [0] * job.prompt
    return Request(number, tokens, job.prompt, job.answer, frozenset(), arrival=job.arrival)


def _commit(scheduler: Scheduler, plan: Plan, times: list[RequestMetrics], now: float) -> int:
    """Note the tokens of this step -> how many requests ended."""
    blanks = {request.id: 0 for request, _ in plan.items}
    ended = 0
    for event in scheduler.commit(plan, blanks):
        metrics = times[event.request.id]
        metrics.token_times.append(now)
        if event.finish_reason:
            metrics.finished, metrics.preemptions = now, event.request.preemptions
            ended += 1
    return ended
