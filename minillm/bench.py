"""Measuring, with its bound: this engine beside transformers, in interleaved pairs.

A pair is one run of each, one right after the other, the order turned round every time, so that a
machine that slows down or warms up slows both. Memory is measured in a process of its own each.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

from minillm import machine
from minillm.bench_engines import OURS, PEER, Ours, Peer, model_folder
from minillm.bench_memory import measure_in_child
from minillm.bench_stats import ENOUGH, summary, turn
from minillm.doctor import version_of
from minillm.files import LoadError

TEXT = "Once upon a time there was a small engine that wrote one token after another. "
MODELS = ("tiny", "blank", "gemma3-270m")
TIE = 1e-4  # two candidates this close, relative to the spread of the logits, are a tie


@dataclass(frozen=True)
class Plan:
    """What the decode suite measures."""

    models: tuple[str, ...] = MODELS
    required: bool = False  # a model that cannot be loaded is an error, not a line
    pairs: int = ENOUGH
    prompt_tokens: int = 32
    new_tokens: int = 64  # of models up to `small`; a quarter of it for larger ones, but 8
    small: int = 64 * 2**20  # bytes of weights read a token
    peers: bool = True  # also transformers
    memory: bool = True  # also peak memory, in child processes
    fast: bool = False  # a check that everything works; no ratio is claimed

    def quick(self) -> Plan:
        """The same with few pairs and tokens."""
        return replace(self, fast=True, pairs=min(self.pairs, 2), new_tokens=8)


def decode_suite(plan: Plan, progress: Callable[[str, int, int], None] = lambda *_: None) -> dict:
    """Run the suite -> a report of plain values (seconds, bytes), raw samples included.

    progress: called with (what, done, total). Ctrl-C ends it early: the report then holds what was
    measured, and "interrupted" is true. Raises LoadError if plan.required.
    """
    report = {"suite": "decode", "interrupted": False, "fast": plan.fast, **_circumstances()}
    report |= {"plan": asdict(plan), "models": [], "not_tried": []}
    if plan.peers and version_of("transformers") is None:
        plan = replace(plan, peers=False)
        report["not_tried"].append("transformers: not installed")
    try:
        report["read_bandwidth"] = asdict(machine.read_bandwidth("cpu"))
        for name in plan.models:
            with TemporaryDirectory(prefix="minillm-bench-") as scratch:
                try:
                    folder = model_folder(name, Path(scratch))
                    _bench_model(name, folder, plan, report, progress)
                except (LoadError, OSError) as error:
                    if plan.required:
                        raise
                    report["not_tried"].append(f"{name}: {error}")
    except KeyboardInterrupt:
        report["interrupted"] = True
    for entry in report["models"]:
        _summarise(entry, report)
    return report


def _circumstances() -> dict:
    import torch

    names = ("minillm-course", "torch", "transformers", "safetensors")
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": {
            "cpu": machine.cpu_model(),
            "cores": machine.cpu_count(),
            "threads": torch.get_num_threads(),
            "last_level_cache_bytes": machine.last_level_cache(),
            "memory_bytes": machine.total_memory(),
            "system": platform.platform(),
        },
        "versions": {"python": platform.python_version()} | {n: version_of(n) for n in names},
        "dtype": "fp32",
        "read_bandwidth": None,
    }


def _bench_model(name: str, folder: Path, plan: Plan, report: dict, progress) -> None:
    """Fill one entry of the report; the entry is in place before it is full (Ctrl-C)."""
    progress(f"{name}: loading", 0, plan.pairs)
    ours = Ours(folder)
    engines = {OURS: ours} | ({PEER: Peer(folder)} if plan.peers else {})
    prompt = prompt_of(ours, plan.prompt_tokens)
    bytes_read = ours.bytes_per_token()
    new_tokens = plan.new_tokens
    if bytes_read > plan.small:
        new_tokens = max(8, new_tokens // 4)
    entry = {"model": name, "parameters": ours.model.num_parameters(), "samples": []}
    entry |= {"bytes_per_token": bytes_read, "prompt_tokens": len(prompt)}
    entry |= {"new_tokens": new_tokens, "memory": {}, "tokens": None}
    report["models"].append(entry)
    first = {}
    for engine in engines:  # warm-up, and the tokens to compare
        first[engine] = engines[engine].run(prompt, new_tokens).tokens
    if plan.peers:
        entry["tokens"] = compare_tokens(ours.model, prompt, first[OURS], first[PEER])
    for pair in range(plan.pairs):
        progress(f"{name}: pairs", pair, plan.pairs)
        order = turn(engines, pair)
        runs = {engine: engines[engine].run(prompt, new_tokens) for engine in order}
        entry["samples"].append(
            {e: {"first_s": r.first_s, "total_s": r.total_s, "per_token_s": r.per_token_s}
             for e, r in runs.items()}
        )  # fmt: skip
    progress(f"{name}: pairs", plan.pairs, plan.pairs)
    names = list(engines)
    del ours, engines  # their memory is given back before the children ask for theirs
    for number, engine in enumerate(names if plan.memory else ()):
        progress(f"{name}: memory", number, len(names))
        try:
            entry["memory"][engine] = measure_in_child(engine, folder, prompt, new_tokens)
        except RuntimeError as error:  # the speeds are worth keeping
            report["not_tried"].append(f"{name}, peak memory: {error}")


def prompt_of(ours: Ours, count: int) -> list[int]:
    """`count` tokens of ordinary text, or of the vocabulary in a row where there is none."""
    if ours.tokenizer is None:
        return [i % ours.model.config.vocab_size for i in range(1, count + 1)]
    return ours.tokenizer.encode(TEXT * count)[:count]


def compare_tokens(model, prompt: Sequence[int], ours: Sequence[int], peer: Sequence[int]) -> dict:
    """Where two greedy answers first part, and how far apart the two candidates were.

    "gap": difference of the two candidates' logits in our model over the spread (largest minus
    smallest) of all logits; "tie" when it is at most 1e-4. After a difference the texts go
    different ways, so nothing behind it is compared.
    """
    import torch

    same = next((i for i, (a, b) in enumerate(zip(ours, peer)) if a != b), None)
    if same is None:
        return {"equal": len(ours), "of": len(ours), "gap": None, "tie": False}
    with torch.inference_mode():
        before = torch.tensor([*prompt, *ours[:same]])
        logits_V = model(before, rows=torch.tensor([len(before) - 1]))[0].double()
    gap = float((logits_V[ours[same]] - logits_V[peer[same]]).abs())
    gap /= float(logits_V.max() - logits_V.min())
    return {"equal": same, "of": len(ours), "gap": gap, "tie": gap <= TIE}


def _summarise(entry: dict, report: dict) -> None:
    """Medians, spreads and, from complete pairs, ratios; only of what was measured."""
    samples, bandwidth = entry["samples"], report["read_bandwidth"]
    entry["engines"], entry["ratio"] = {}, None
    if not samples:
        return
    for engine in samples[0]:
        found = {k: summary([s[engine][k] for s in samples]) for k in samples[0][engine]}
        middle = found["per_token_s"]["median"]
        found["tokens_per_s"] = 1 / middle
        speed = entry["bytes_per_token"] / middle
        found["bytes_per_s"] = speed
        found["share_of_bandwidth"] = speed / bandwidth["bytes_per_second"]
        entry["engines"][engine] = found
    if PEER in samples[0] and not report["fast"]:
        entry["ratio"] = {
            what: summary([s[PEER][key] / s[OURS][key] for s in samples])
            for what, key in (("decode", "per_token_s"), ("request", "total_s"))
        }


def is_fast(asked: bool) -> bool:
    """Fast mode: asked for, or the course's own switch is set. `blank` is small in it."""
    if asked:
        os.environ["MINILLM_FAST"] = "1"
    return asked or os.environ.get("MINILLM_FAST") == "1"
