"""Measuring how many requests at once are served: policies, peers, scheduler, cache, waste.

All engines serve the same jobs in turn, the order turned round every time; a ratio is the median
of those pairs. No job stops early and every engine has memory for all of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from minillm import bench_serve_parts as parts
from minillm.bench import _circumstances, compare_tokens
from minillm.bench_engines import model_folder
from minillm.bench_serve_engines import CONTINUOUS, PEERS, STATIC, engines_for
from minillm.bench_stats import ENOUGH, summary, turn
from minillm.doctor import version_of
from minillm.files import LoadError
from minillm.workload import COUNT, Job, workload

WAITING = (1, 1_000, 100_000)  # requests
ROWS = 8  # of the step beside which the hashing of a block is put
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Load:
    """One comparison: which model serves which jobs on how many seats."""

    model: str
    jobs: str  # "W" or "skewed"
    count: int
    seats: int
    pairs: int
    peers: tuple[str, ...] = PEERS


@dataclass(frozen=True)
class ServePlan:
    """What the serve suite measures."""

    pairs: int = ENOUGH
    large_pairs: int = 3  # of the real model, whose runs take tens of seconds
    peers: bool = True  # also transformers
    real: bool = True  # also gemma3-270m, where it is installed
    fast: bool = False  # a check that everything works; no ratio is claimed

    def quick(self) -> ServePlan:
        """The same with two small pairs, and without the real model."""
        return replace(self, fast=True, pairs=2, real=False)

    def loads(self) -> list[Load]:
        peers = PEERS if self.peers else ()
        if self.fast:
            return [Load("tiny", "W", 4, 2, self.pairs, peers)]
        each, whole = peers[:2], peers[2:]  # generate_batch takes several times as long
        loads = [
            Load("tiny", "W", COUNT, 4, self.pairs, each),
            Load("tiny", "W", COUNT, 8, self.pairs, whole),
            Load("tiny", "skewed", 64, 8, self.pairs, each),
        ]
        if self.real:
            loads.append(Load("gemma3-270m", "skewed", 16, 4, self.large_pairs, peers[:2]))
        return loads


def skewed_jobs(vocab_size: int, count: int) -> list[Job]:
    """One in eight writes a long answer (192 to 256 tokens), the others a short one (4 to 16).

    16 requests or fewer: an eighth of these lengths for the long ones, since a model of real size
    serves them.
    """
    rng = random.Random("skewed, 4")
    long = (192, 256) if count > 16 else (48, 64)
    jobs = []
    for first in range(0, count, 8):
        place = rng.randrange(8)
        for nth in range(min(8, count - first)):
            prompt = tuple(rng.randrange(1, vocab_size) for _ in range(rng.randint(8, 24)))
            jobs.append(Job(prompt, rng.randint(*(long if nth == place else (4, 16)))))
    return jobs


def serve_suite(plan: ServePlan, progress: Progress = lambda *_: None) -> dict:
    """Run the suite -> a report of plain values (seconds, shares), raw samples included.

    As decode_suite: Ctrl-C ends it early, with what was measured until then.
    """
    report = {"suite": "serve", "interrupted": False, "fast": plan.fast, **_circumstances()}
    report |= {"plan": asdict(plan), "loads": [], "parts": {}, "not_tried": []}
    if plan.peers and version_of("transformers") is None:
        plan = replace(plan, peers=False)
        report["not_tried"].append("transformers: not installed")
    try:
        _measure_parts(plan, report, progress)
        for load in plan.loads():
            try:
                _serve(load, plan, report, progress)
            except (LoadError, OSError) as error:
                report["not_tried"].append(f"{load.model}: {error}")
    except KeyboardInterrupt:
        report["interrupted"] = True
    return report


def _serve(load: Load, plan: ServePlan, report: dict, progress: Progress) -> None:
    from minillm.load import load as load_model

    with TemporaryDirectory(prefix="minillm-bench-") as scratch:
        label = f"{load.model}, {load.jobs}, {load.seats} seats"
        progress(label, 0, load.pairs)
        folder = model_folder(load.model, Path(scratch))
        model, _ = load_model(folder, dtype="fp32", device="cpu")
        vocab = model.config.vocab_size
        jobs = workload(vocab, load.count) if load.jobs == "W" else skewed_jobs(vocab, load.count)
        runs = engines_for(model, folder, load.peers)
        entry = {**asdict(load), "prompt_tokens": sum(len(j.prompt) for j in jobs)}
        entry |= {"written": sum(j.answer for j in jobs), "samples": []}
        report["loads"].append(entry)
        warm = {name: run(jobs[: load.seats], load.seats) for name, run in runs.items()}
        assert set(warm) == set(runs)
        for pair in range(load.pairs):
            order = turn(runs, pair)
            found = {name: runs[name](jobs, load.seats) for name in order}
            if pair == 0:
                entry["steps"] = {name: run.steps for name, run in found.items()}
                entry["same"] = {n: same_tokens(model, jobs, found, n) for n in found}
            entry["samples"].append({name: run.seconds for name, run in found.items()})
            summarise(entry, plan.fast)
            progress(label, pair + 1, load.pairs)


def same_tokens(model, jobs: Sequence[Job], found: dict, name: str) -> dict:
    """{"equal", "ties", "different"}: jobs whose answer is that of the continuous engine.

    In float32 sums depend a little on the batch, so two almost equal candidates may swap places:
    a tie, if they are within 1e-4 of the spread of the logits. Nothing behind it is compared.
    """
    count = {"equal": 0, "ties": 0, "different": 0}
    for job, ours, theirs in zip(jobs, found[CONTINUOUS].tokens, found[name].tokens, strict=True):
        assert len(ours) == len(theirs) == job.answer, f"{name} wrote {len(theirs)} tokens"
        one = compare_tokens(model, job.prompt, ours, theirs)
        kind = "equal" if one["gap"] is None else "ties" if one["tie"] else "different"
        count[kind] += 1
    return count


def summarise(entry: dict, fast: bool) -> None:
    """Tokens/s of each engine, and how much longer each takes than the continuous one."""
    samples = entry["samples"]
    entry["tokens_per_s"] = {
        name: summary([entry["written"] / s[name] for s in samples]) for name in samples[0]
    }
    steps = entry["steps"]
    entry["steps_ratio"] = steps[STATIC] / steps[CONTINUOUS]
    entry["ratio"] = {} if fast else {
        name: summary([s[name] / s[CONTINUOUS] for s in samples])
        for name in samples[0] if name != CONTINUOUS
    }  # fmt: skip


def _measure_parts(plan: ServePlan, report: dict, progress: Progress) -> None:
    from minillm.load import load

    model, _ = load("tiny", dtype="fp32", device="cpu")
    found, pairs, done = report["parts"], plan.pairs, 0

    def told(name: str, value) -> None:
        nonlocal done
        found[name], done = value, done + 1
        progress(f"parts: {name}", done, 7)

    told("scheduler", summary(parts.scheduler_samples(pairs)))
    counts = WAITING[:2] if plan.fast else WAITING
    rows = parts.waiting_samples(pairs, counts)
    told("waiting", {c: summary([row[c] for row in rows]) for c in counts})
    found["waiting_ratio"] = summary([row[counts[-1]] / row[counts[0]] for row in rows])
    told("block", summary(parts.block_samples(pairs)))
    told("step", summary([parts.step_seconds(model, ROWS, 40) for _ in range(pairs)]))
    found["block_share"] = found["block"]["median"] / found["step"]["median"]
    length = 160 if plan.fast else 480
    ttft = parts.prefix_samples(model, pairs, length, 0.9)
    told("ttft", {name: summary([t[name] for t in ttft]) for name in ttft[0]})
    found["ttft"]["length"] = length
    if not plan.fast:
        found["ttft"]["ratio"] = summary([t["computed"] / t["cached"] for t in ttft])
    count = 4 if plan.fast else parts.WASTE_COUNT
    told("waste", parts.waste(model, count, lambda: progress("parts: waste", done, 7)))
