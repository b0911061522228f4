"""Runs of the story: requests through an engine on the clock, and what the engine held."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence

import torch

from minillm.bench_story_rows import Step, weight_bytes
from minillm.config import EngineConfig
from minillm.engine.metrics import EngineMetrics
from minillm.sampling import SamplingParams
from minillm.scoreboard import one_after_another
from minillm.workload import Job

VOCABULARY = 1024  # of the blank model


def read_bytes(model) -> int:
    """Bytes of weights that one decode step reads: all, but of an untied embedding a row."""
    whole = weight_bytes(model)
    return whole if model.config.tie_embeddings else whole - model.embedding.weight.nbytes


def serving(step: Step, model, budget: int):
    """An engine for `timed`: (model, jobs, facts) -> the number of a job for every token.

    None among the numbers: now everything is prepared, the clock starts again.
    """
    if step.config_of is None:
        return alone(step.memory)
    return together(step.config_of(model, budget))


def alone(memory):
    """One request after another."""

    def engine(model, jobs: Sequence[Job], facts: dict) -> Iterator[int]:
        facts |= {"at_once": 1, "blocks": None, "block_size": None, "cache_bytes": 0}
        for number, held in one_after_another(memory)(model, jobs):
            facts["cache_bytes"] = max(facts["cache_bytes"], held)
            yield number

    return engine


def together(config: EngineConfig, before: Job | None = None):
    """All requests through one engine. before: one that is served first and not counted."""

    def engine(model, jobs: Sequence[Job], facts: dict) -> Iterator[int | None]:
        from minillm.engine.llm import LLM

        llm, number, at_once = LLM(model, None, config), {}, 0
        params = lambda job: SamplingParams(max_tokens=job.answer, ignore_eos=True)
        if before is not None:
            llm.generate([list(before.prompt)], [params(before)])
            llm.metrics = EngineMetrics()
        yield None
        for i, job in enumerate(jobs):
            number[llm.add(job.prompt, params(job))] = i
        while llm.unfinished:
            events = llm.step()
            at_once = max(at_once, len(events), len(llm.scheduler.running))
            yield from (number[event.request.id] for event in events)
        found = llm.metrics
        facts |= {"at_once": at_once, "blocks": config.num_blocks}
        facts |= {"block_size": config.block_size, "cache_bytes": llm.cache.nbytes}
        facts |= {"steps": found.steps, "preemptions": found.preemptions}
        facts |= {"cached_tokens": found.cached_tokens, "prompt_tokens": found.prompt_tokens}

    return engine


@torch.inference_mode()
def timed(engine, model, jobs: Sequence[Job]) -> dict:
    """Serve the jobs, all there from the start -> seconds, tokens/s, what the engine told."""
    first, written, facts, began = {}, 0, {}, time.perf_counter()
    for number in engine(model, jobs, facts):
        if number is None:
            began = time.perf_counter()
            continue
        first.setdefault(number, time.perf_counter() - began)
        written += 1
    seconds, wanted = time.perf_counter() - began, sum(job.answer for job in jobs)
    assert written == wanted, f"{written} tokens written, {wanted} were asked for"
    times = {"ttft_p50": statistics.median(first.values()), "seconds": seconds}
    return times | {"written": written, "tokens_per_s": written / seconds} | facts
