"""The parts of serving one by one: scheduler, prefix cache, waste of memory. For bench_serve.py."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from minillm.bench_serve_engines import BLOCK, parameters
from minillm.bench_stats import turn
from minillm.cache.blocks import BlockManager
from minillm.config import EngineConfig
from minillm.engine.llm import LLM
from minillm.engine.request import Request
from minillm.engine.scheduler import Scheduler
from minillm.sampling import SamplingParams
from minillm.workload import Job

WASTE_SEED, WASTE_COUNT, WASTE_LEAST, WASTE_MOST = "waste", 32, 64, 700  # tokens, all included


def filled_scheduler(running: int, waiting: int) -> Scheduler:
    """Every seat taken by a request that writes; the rest in the queue."""
    blocks = BlockManager(running * 40, BLOCK, prefix_caching=True)
    config = EngineConfig(max_num_seqs=running, max_batch_tokens=64 * running)
    scheduler = Scheduler(config, blocks, 4096)
    for i in range(running + waiting):
        scheduler.add(Request(i, [i % 97] * 40, 40, 500, frozenset()))
    scheduler.commit(plan := scheduler.schedule(), {r.id: 1 for r, _ in plan.items})
    return scheduler


def scheduler_step(scheduler: Scheduler, steps: int) -> float:
    """Seconds of schedule and commit together, a step, everybody writing."""
    sampled = {request.id: 1 for request in scheduler.running}
    start = time.perf_counter()
    for _ in range(steps):
        scheduler.commit(scheduler.schedule(), sampled)
    return (time.perf_counter() - start) / steps


def scheduler_samples(pairs: int, running: int = 256, steps: int = 20) -> list[float]:
    """Seconds a request and step."""
    return [
        scheduler_step(filled_scheduler(running, 0), steps) / running for _ in range(pairs)
    ]  # fmt: skip


def waiting_samples(pairs: int, counts: Sequence[int], running: int = 64) -> list[dict[int, float]]:
    """Seconds a step for each number of waiting requests, one after another in every pair."""
    schedulers = {count: filled_scheduler(running, count) for count in counts}
    return [{c: scheduler_step(s, 20) for c, s in schedulers.items()} for _ in range(pairs)]


def block_samples(pairs: int, texts: int = 200, blocks: int = 30) -> list[float]:
    """Seconds a block that prefix caching costs when nothing is ever found: its hashes."""
    rng = random.Random(0)
    length = blocks * BLOCK
    prompts = [[rng.randrange(1000) for _ in range(length)] for _ in range(texts)]

    def serve(caching: bool) -> float:
        manager = BlockManager(blocks + 1, BLOCK, caching)
        start = time.perf_counter()
        for number, tokens in enumerate(prompts):
            assert manager.match(number, tokens) == 0
            manager.grow(number, 0, length)
            manager.seal(number, tokens, length)
            manager.release(number)
        return time.perf_counter() - start

    return [(serve(True) - serve(False)) / (texts * blocks) for _ in range(pairs)]


def step_seconds(model, rows: int, steps: int) -> float:
    """Seconds of a decoding step of `rows` requests."""
    llm = LLM(model, None, EngineConfig(num_blocks=rows * 16, max_num_seqs=rows))
    for row in range(rows):
        llm.add([row + 1] * 24, SamplingParams(max_tokens=steps + 4, ignore_eos=True))
    for _ in range(3):
        llm.step()
    start = time.perf_counter()
    for _ in range(steps):
        llm.step()
    return (time.perf_counter() - start) / steps


def prefix_samples(model, pairs: int, length: int, shared: float) -> list[dict[str, float]]:
    """Seconds to the first token of a prompt whose beginning was seen before: with and without."""
    config = lambda on: EngineConfig(
        num_blocks=4 * length // BLOCK, max_batch_tokens=length, prefix_caching=on
    )
    engines = {
        "cached": LLM(model, None, config(True)),
        "computed": LLM(model, None, config(False)),
    }
    draw = random.Random(1)
    text = lambda count: [draw.randrange(1, model.config.vocab_size) for _ in range(count)]
    known = text(round(length * shared))
    one = SamplingParams(max_tokens=1, ignore_eos=True)
    samples = []
    for pair in range(-1, pairs):  # the first one is warm-up, and fills the cache
        prompt = known + text(length - len(known))
        order = turn(engines, pair)
        found = {name: engines[name].generate([prompt], one)[0] for name in order}
        assert found["cached"].tokens == found["computed"].tokens
        samples.append({name: answer.metrics.ttft for name, answer in found.items()})
    return samples[1:]


def waste_trace(vocab_size: int, count: int) -> list[Job]:
    """Seeded requests, 64 to 700 tokens long, a quarter of that being the answer."""
    rng = random.Random(WASTE_SEED)
    jobs = []
    for _ in range(count):
        length = rng.randint(WASTE_LEAST, WASTE_MOST)
        prompt = tuple(rng.randrange(1, vocab_size) for _ in range(length - length // 4))
        jobs.append(Job(prompt, length // 4))
    return jobs


def waste(model, count: int, progress: Callable[[], None]) -> dict:
    """Share of the held cache that holds no token, mean over steps, measured from the pool.

    reserve-max: one block a request, as long as the context, as engines did before paging.
    """
    jobs = waste_trace(model.config.vocab_size, count)
    longest = model.config.max_len
    found = {"requests": count, "context": longest}
    found["mean_length"] = sum(len(j.prompt) + j.answer for j in jobs) / count
    for name, size in (("reserve-max", longest), ("paged", BLOCK)):
        config = EngineConfig(block_size=size, num_blocks=8 * longest // size, max_num_seqs=8)
        llm = LLM(model, None, config)
        llm.generate([list(job.prompt) for job in jobs], parameters(jobs))
        found[name] = {"waste": llm.metrics.waste, "block_size": size, "steps": llm.metrics.steps}
        progress()
    return found
