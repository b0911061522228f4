"""One workload from naive to everything, under a memory budget that never changes.

Rows of this kind cannot take turns as the pairs of the other suites do: each is one run. A second
pass in reversed order, as far as time allows, says how far two runs differ; the faster one counts,
since other work on a machine can only slow a run. Speed and bytes are those of a blank model,
quality is that of `tiny` through the row's own memory and weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import torch

from minillm import machine
from minillm.bench import _circumstances
from minillm.bench_story_rows import STEPS, Step, same, weight_bytes
from minillm.bench_story_runs import VOCABULARY, read_bytes, serving, timed
from minillm.bench_story_sides import peers, sides
from minillm.scoreboard_engines import STRIP
from minillm.workload import Job, workload

MB = 10**6
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class StoryPlan:
    """What the story suite measures."""

    size: int = 400 * MB  # of the blank model's weights in float32, at least
    gpu_size: int = 8000 * MB  # the same on a GPU, where it is held in float16
    strips: float = 2.1  # the budget: dense weights and room for so many of the longest texts
    alone_tokens: int = 16  # written by one user alone
    prompt: int = 128  # tokens of the prompt whose reading is timed: a step of many rows
    tales: int = 4  # unseen tales whose perplexity is taken
    items: int = 8  # unseen items a task
    requests: int | None = None  # at most, of every row; None: as the row says
    shared: int = 96  # tokens that all prompts begin with, in the prefix cache's comparison
    times: int = 2  # so many times W, in the comparison of blocks
    peer_requests: int = 12  # of W's, for transformers
    again: int = len(STEPS)  # rows of the second pass at most
    seconds: float = 180  # nothing that can be left out is begun later than this
    peers: bool = True  # also transformers and llama.cpp, where they are installed
    fast: bool = False  # a check that everything works; no ratio is claimed

    def quick(self) -> StoryPlan:
        """A small model, a few requests."""
        small = dict(size=20 * MB, gpu_size=20 * MB, alone_tokens=3, tales=1, items=1)
        small |= dict(requests=3, peer_requests=3, shared=32, times=1, prompt=32, again=1)
        return replace(self, fast=True, **small)


def story_suite(plan: StoryPlan, progress: Progress = lambda *_: None) -> dict:
    """Run the suite -> a report of plain values. Ctrl-C keeps the rows measured until then."""
    began = time.perf_counter()
    report = {"suite": "story", "interrupted": False, "fast": plan.fast, **_circumstances()}
    report |= {"plan": asdict(plan), "model": None, "budget": None, "rows": [], "sides": []}
    report |= {"peers": [], "not_tried": []}
    late = lambda: time.perf_counter() - began > plan.seconds
    try:
        model = _start(plan, report, progress)
        _rows(plan, model, report, progress)
        for part in (sides, peers):
            if late():
                what = f"{part.__name__}: {plan.seconds:.0f} seconds were over"
                report["not_tried"].append(what)
            else:
                part(plan, model, report, progress)
        second_pass(plan, model, report, progress, late)
    except KeyboardInterrupt:
        report["interrupted"] = True
    report["seconds"] = time.perf_counter() - began
    return report


def _start(plan: StoryPlan, report: dict, progress: Progress):
    """The blank model, and the budget that every row has to keep."""
    from minillm.blank import blank_model

    progress("the memory's speed, and a blank model", 0, len(STEPS))
    gpu = torch.cuda.is_available()
    device, dtype = ("cuda", torch.float16) if gpu else ("cpu", torch.float32)
    report["dtype"], report["device"] = str(dtype).removeprefix("torch."), device
    report["gpu"] = torch.cuda.get_device_name() if gpu else None
    report["read_bandwidth"] = asdict(machine.read_bandwidth(device))
    size = plan.gpu_size if gpu else plan.size
    model = blank_model(VOCABULARY, dtype, device, size=size)
    strip = STRIP * model.config.kv_bytes_per_token(dtype.itemsize)
    report["budget"] = int(weight_bytes(model) + plan.strips * strip)
    report["model"] = {
        "parameters": model.num_parameters(), "layers": model.config.num_layers,
        "bytes": weight_bytes(model), "kv_bytes_per_token": strip / STRIP,
    }  # fmt: skip
    return model


def _rows(plan: StoryPlan, model, report: dict, progress: Progress) -> None:
    judged = {}  # rows with the same memory and weights have the same quality
    for number, step in enumerate(STEPS):
        progress(step.name, number, len(STEPS))
        try:
            treated = (step.blank or step.change or same)(model)
            row = measure(step, treated, plan, report)
            if (key := (step.memory, step.change)) not in judged:
                judged[key] = quality(step, plan)
        except (RuntimeError, ValueError, NotImplementedError) as error:
            if report["device"] == "cpu":
                raise
            report["not_tried"].append(f"{step.name}: {error}")
            continue
        report["rows"].append(row | judged[key])


@torch.inference_mode()
def measure(step: Step, model, plan: StoryPlan, report: dict) -> dict:
    """Speed and bytes of one row; the first call of everything is slow, so it is not counted."""
    jobs = workload(VOCABULARY, min(step.requests, plan.requests or step.requests))
    run = lambda work: timed(serving(step, model, report["budget"]), model, work)
    alone = Job(jobs[0].prompt[:32], plan.alone_tokens)
    run([Job(alone.prompt, 2)])
    one = run([alone])
    one_user = (alone.answer - 1) / (one["seconds"] - one["ttft_p50"])
    row = {"name": step.name, "chapter": step.chapter, "requests": len(jobs)}
    row |= {"weight_bytes": weight_bytes(model), "one_user": one_user}
    row["bound"] = report["read_bandwidth"]["bytes_per_second"] / read_bytes(model)
    row |= run(jobs)
    row["reading"] = plan.prompt / run([Job(tuple(range(1, plan.prompt + 1)), 1)])["seconds"]
    row["runs"] = [row["tokens_per_s"]]
    held = row["weight_bytes"] + row["cache_bytes"]
    assert held <= report["budget"], f"{held} bytes held, the budget is {report['budget']}"
    return row


def quality(step: Step, plan: StoryPlan) -> dict:
    """Perplexity of tales and right answers of `tiny`, through the row's memory and weights."""
    from minillm.load import load
    from minillm.scoreboard_quality import tale_perplexity, task_accuracy

    model, tokenizer = load("tiny")
    model = (step.change or same)(model)
    return {
        "perplexity": tale_perplexity(model, tokenizer, step.memory, plan.tales),
        "accuracy": task_accuracy(model, tokenizer, step.memory, plan.items),
    }


def second_pass(plan: StoryPlan, model, report: dict, progress: Progress, late) -> None:
    """The rows once more, the last one first, until time is over; the faster run counts."""
    steps, rows = {step.name: step for step in STEPS}, report["rows"]
    for number, row in enumerate(rows[::-1][: plan.again]):
        if late():
            return
        progress(f"again: {row['name']}", number, len(rows))
        step = steps[row["name"]]
        again = measure(step, (step.blank or step.change or same)(model), plan, report)
        row |= faster(row, again)


def faster(row: dict, again: dict) -> dict:
    """Of two runs the better of each speed; "runs" keeps the tokens/s of both."""
    best = max(row, again, key=lambda r: r["tokens_per_s"])
    speeds = {name: max(row[name], again[name]) for name in ("one_user", "reading")}
    return best | speeds | {"runs": row["runs"] + again["runs"]}
