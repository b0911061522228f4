"""Serves a capstone workload with `tiny`: bytes from weights and pool, time from a paper GPU.

The device is the paper GPU (minillm/clock.py) made 2,000 times smaller, because `tiny` is 2,000
times smaller than a model of 7 billion weights: a step takes about as long as it takes there.

int8 and int4 are the package's formats, 2:4 as well. 3 bits, and 2:4 with codes, are not packed by
this course: their values are computed with, their bytes are counted as if they were packed.
tests/test_ch14.py compares the counted bytes with those of the package's own packed layers.
"""

from __future__ import annotations

import copy
import functools
import itertools
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from exercises.ch14_choice import workload
from minillm.clock import Device, VirtualClock
from minillm.config import EngineConfig
from minillm.engine.llm import LLM
from minillm.engine.metrics import percentile
from minillm.sampling import SamplingParams

SMALL_GPU = Device(bandwidth=150e6, peak=30e9, memory=8e6, launch=10e-6)
BITS = {"fp16": 16, "int8": 8, "int4": 4, "int3": 3}
GROUPS = {"int8": None, "int4": 64, "int3": None}  # weights of a row that share a scale
PRUNING = (None, "2:4")
KV = ("fp16", "int8")


def matrix_bytes(rows: int, columns: int, weights: str, pruning: str | None) -> float:
    """Bytes of one matrix: codes, scales of 2 bytes, and for 2:4 two index bits a kept weight."""
    numbers = rows * columns
    kept = numbers / 2 if pruning else numbers
    scales = 0 if weights == "fp16" else rows * -(-columns // (GROUPS[weights] or columns))
    return kept * BITS[weights] / 8 + 2 * scales + (numbers / 8 if pruning else 0)


class Counted(nn.Module):
    """A linear layer that computes with `weight` and states the bytes of its stored form."""

    def __init__(self, weight_NK, name: str, size: float):
        super().__init__()
        self.register_buffer("weight", weight_NK)
        self.name, self.size = name, size

    def forward(self, x_TK):
        return F.linear(x_TK, self.weight)

    def weight_bytes(self) -> dict[str, float]:
        return {self.name: self.size}


@functools.cache
def tiny():
    """(model, tokenizer) in 16 bit, as it is shipped."""
    from minillm.load import load

    return load("tiny", dtype="fp16")


@functools.cache
def model_of(weights: str, pruning: str | None, values: bool = True):
    """`tiny` in a format. values=False: only the bytes are right, which is all that time needs."""
    from minillm.compress.prune import prune
    from minillm.compress.quant import shallow, simulate

    model, tokenizer = tiny()
    if values and pruning:
        texts = itertools.islice(workload.corpus.training_items(7), 100)
        texts = [tokenizer.encode(i.prompt + i.answer) for i in texts]
        wide = copy.deepcopy(model).float()
        model = prune(wide, "sparsegpt", pattern=pruning, calibration=texts).half()
    if values and weights != "fp16":
        model = simulate(model, BITS[weights], GROUPS[weights])
    new = shallow(model, model.config)
    for block in new.layers:
        for name, layer in [m for m in block.named_modules() if isinstance(m[1], nn.Linear)]:
            assert layer.bias is None
            size = matrix_bytes(*layer.weight.shape, weights, pruning)
            parent, _, last = name.rpartition(".")
            counted = Counted(layer.weight.data, workload.name_of(weights, pruning), size)
            setattr(block.get_submodule(parent), last, counted)
    return new


def bytes_of(weights: str, pruning: str | None) -> int:
    """All weights of `tiny` in a format, embedding and norms (16 bit) among them."""
    held = model_of(weights, pruning, False).weight_bytes()
    return round(sum(sum(part.values()) for part in held.values()))


def kv_bytes(kv: str) -> int:
    """K and V of one token, scales included (a float32 for each head of int8)."""
    c = tiny()[0].config
    one = c.head_size + 4 if kv == "int8" else 2 * c.head_size
    return 2 * c.num_layers * c.num_kv_heads * one


@dataclass(frozen=True)
class Outcome:
    """What serving a workload came to."""

    weights: int  # bytes
    pool: int  # bytes
    ttft: float  # seconds, p95
    tpot: float
    seconds: float  # from the first arrival to the last token
    written: int  # tokens
    preemptions: int
    most: int  # requests that ran at the same time
    cached: float  # share of prompt tokens that were not computed
    right: dict[str, float] | None  # task -> share of this run's answers (stories are not scored)
    times: tuple  # RequestMetrics of every request, in their order

    @property
    def score(self) -> float:
        """Tokens a second."""
        return self.written / self.seconds


class Blanks:
    """In the place of the runner: every token is 2, so plans and times come out, and no text."""

    def __init__(self, runner):
        self.runner = runner

    def run(self, plan) -> dict[int, int]:
        return {request.id: 2 for request, _ in plan.items}

    def __getattr__(self, name):
        return getattr(self.runner, name)


def serve(case: dict, answer: dict, text: bool = True, order=None) -> Outcome:
    """Run the workload through the engine. text=False: the same plans and times, no model."""
    _, tokenizer = tiny()
    model = model_of(answer["weights"], answer["pruning"], text)
    llm = LLM(model, None, engine_config(answer))
    if not text:
        llm.runner = Blanks(llm.runner)
    if order:
        llm.scheduler.order = order
    system = workload.system_tokens(case["system"], tokenizer.encode)
    wanted = {}
    for job in case["jobs"]:
        own, right = workload.job_tokens(job, tokenizer.encode)
        params = SamplingParams(max_tokens=len(right), ignore_eos=True)
        wanted[llm.add(system + own, params, arrival=job[0])] = job, right
    done, most = {}, 0
    while llm.unfinished:
        events = llm.step()
        most = max(most, len(events), len(llm.scheduler.running))
        done |= {e.request.id: e.completion for e in events if e.completion}
    return _outcome(llm, model, wanted, done, text, most)


def sweep(case: dict, answer: dict, key: str, values) -> list[tuple]:
    """(value, Outcome) for each value of one key, all else as in `answer`; times only."""
    return [(value, serve(case, answer | {key: value}, text=False)) for value in values]


def engine_config(answer: dict) -> EngineConfig:
    """The answer as the engine takes it."""
    keys = ("block_size", "num_blocks", "max_num_seqs", "max_batch_tokens", "prefix_caching")
    kv = "int8" if answer["kv_dtype"] == "int8" else "auto"
    picked = {key: answer[key] for key in keys}
    return EngineConfig(**picked, kv_dtype=kv, clock=VirtualClock(SMALL_GPU))


def _outcome(llm, model, wanted: dict, done: dict, text: bool, most: int) -> Outcome:
    metrics = [done[i].metrics for i in wanted]
    right = {}
    for i, (job, tokens) in wanted.items():
        if job[1] != "tales":
            right.setdefault(job[1], []).append(done[i].tokens == tokens)
    held = sum(sum(part.values()) for part in model.weight_bytes().values())
    return Outcome(
        round(held), llm.cache.nbytes,
        percentile([m.ttft for m in metrics], 0.95), percentile([m.tpot for m in metrics], 0.95),
        max(m.finished for m in metrics) - min(m.arrival for m in metrics),
        llm.metrics.written, llm.metrics.preemptions, most, llm.metrics.prefix_hits,
        {task: sum(found) / len(found) for task, found in right.items()} if text else None,
        tuple(metrics),
    )  # fmt: skip
