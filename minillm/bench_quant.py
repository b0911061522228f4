"""Measuring what quantised weights buy: decoding, reading a prompt, and a sweep over rows.

Every engine runs in turn, the order turned round each time; a ratio is the median over those
rounds of the dense float32 engine's time over the other's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from minillm.bench import _circumstances, prompt_of
from minillm.bench_engines import Held, Ours, Run, model_folder
from minillm.bench_stats import ENOUGH, summary, turn
from minillm.doctor import version_of
from minillm.files import LoadError

DENSE, LLAMA = "fp32", "llama.cpp Q4_K_M"
SCHEMES = {  # name -> arguments of quantize
    "int8": dict(scheme="int8", head="int8"),
    "int4": dict(scheme="int4", head="int8"),
    "w8a8": dict(scheme="w8a8", head="int8"),
    "int4, int4 head": dict(scheme="int4", head="int4"),
    "int8, dense head": dict(scheme="int8"),
    "int4, dense head": dict(scheme="int4"),
    "w8a8, dense head": dict(scheme="w8a8"),
}
ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class QuantPlan:
    """What the quant suite measures."""

    models: tuple[str, ...] = ("gemma3-270m", "blank")
    pairs: int = ENOUGH
    prompt_tokens: int = 32
    new_tokens: int = 16
    read_tokens: int = 512  # of the prompt that is only read
    size: int = 2048  # of the matrices of the sweep
    copies: int = 24  # layers in its stack: together larger than any cache here
    peers: bool = True  # also llama.cpp, where llama-cpp-python is installed
    fast: bool = False

    def quick(self) -> QuantPlan:
        """A check that everything works: tiny, two rounds, a small matrix."""
        small = dict(models=("tiny",), pairs=2, new_tokens=4, read_tokens=64, size=256, copies=2)
        return replace(self, fast=True, **small)


def quant_suite(plan: QuantPlan, progress: Progress = lambda *_: None) -> dict:
    """Run the suite -> a report of plain values (seconds, bytes), raw samples included.

    Ctrl-C ends it early: the report then holds what was measured, and "interrupted" is true.
    """
    report = {"suite": "quant", "interrupted": False, "fast": plan.fast, **_circumstances()}
    report |= {"plan": asdict(plan), "models": [], "sweep": None, "not_tried": []}
    try:
        from minillm import machine

        report["read_bandwidth"] = asdict(machine.read_bandwidth("cpu"))
        report["sweep"] = _sweep(plan, progress)
        for name in plan.models:
            with TemporaryDirectory(prefix="minillm-bench-") as scratch:
                try:
                    folder = model_folder(name, Path(scratch))
                    _bench_model(name, folder, plan, report, progress)
                except (LoadError, OSError) as error:
                    report["not_tried"].append(f"{name}: {error}")
    except KeyboardInterrupt:
        report["interrupted"] = True
    for entry in report["models"]:
        _summarise(entry, report)
    return report


class Packed(Held):
    """Our engine with a quantised copy of a model."""

    def __init__(self, dense: Ours, options: dict):
        from minillm.compress.quant import quantize

        super().__init__(quantize(dense.model, compute="fast", **options), dense.tokenizer)


class LlamaCpp:
    """llama-cpp-python on the very file that gemma3-270m comes from, greedy."""

    def __init__(self, path: Path, threads: int):
        from llama_cpp import Llama

        self.model = Llama(
            str(path), n_ctx=1024, n_threads=threads, n_threads_batch=threads, verbose=False
        )

    def run(self, prompt, new_tokens: int) -> Run:
        """As Ours.run."""
        start = time.perf_counter()
        self.model.reset()
        tokens, times = [], []
        for token in self.model.generate(prompt, temp=0.0, reset=True):
            times.append(time.perf_counter() - start)
            tokens.append(token)
            if len(tokens) == new_tokens:
                return Run(tuple(tokens), times[0], times[-1])


def _engines(name: str, folder: Path, plan: QuantPlan, report: dict) -> dict:
    import torch

    dense = Ours(folder)
    engines = {DENSE: dense}
    engines |= {label: Packed(dense, options) for label, options in SCHEMES.items()}
    if plan.peers and name == "gemma3-270m":
        if version_of("llama-cpp-python") is None:
            report["not_tried"].append("llama.cpp: pip install llama-cpp-python")
        else:
            from minillm.gemma import gemma_file

            engines[LLAMA] = LlamaCpp(gemma_file(), torch.get_num_threads())
    return engines


def _bench_model(name: str, folder: Path, plan: QuantPlan, report: dict, progress) -> None:
    """Fill one entry of the report; the entry is in place before it is full (Ctrl-C)."""
    progress(f"{name}: loading and packing", 0, plan.pairs)
    engines = _engines(name, folder, plan, report)
    prompt = prompt_of(engines[DENSE], plan.prompt_tokens)
    long = prompt_of(engines[DENSE], plan.read_tokens)
    entry = {"model": name, "samples": [], "bytes": {}, "new_tokens": plan.new_tokens}
    report["models"].append(entry)
    for engine in engines.values():
        engine.run(prompt, plan.new_tokens)  # warm-up; layouts are made
    for label, engine in engines.items():
        if isinstance(engine, Ours):
            entry["bytes"][label] = engine.model.weight_bytes()
    for pair in range(plan.pairs):
        progress(f"{name}: rounds", pair, plan.pairs)
        order = turn(engines, pair)
        sample = {}
        for label in order:
            run = engines[label].run(prompt, plan.new_tokens)
            sample[label] = {"per_token_s": run.per_token_s}
            sample[label]["read_s"] = engines[label].run(long, 1).first_s
        entry["samples"].append(sample)
    progress(f"{name}: rounds", plan.pairs, plan.pairs)


def _summarise(entry: dict, report: dict) -> None:
    samples = entry["samples"]
    entry["engines"], entry["ratios"] = {}, {}
    if not samples:
        return
    for label in samples[0]:
        entry["engines"][label] = {
            key: summary([s[label][key] for s in samples]) for key in samples[0][label]
        }
        if label != DENSE and not report["fast"]:
            entry["ratios"][label] = {
                key: summary([s[DENSE][key] / s[label][key] for s in samples])
                for key in samples[0][label]
            }


def _sweep(plan: QuantPlan, progress: Progress) -> dict:
    """A stack of square linear layers, 1 to 256 rows: seconds a layer of each way, and its bytes.

    One layer after another, each with weights of its own and the same input, as in a model: its
    code is warm, while the weights of all together are larger than the cache.
    """
    import torch

    stacks, held = _stacks(plan.size, plan.copies)
    found = {"size": plan.size, "copies": plan.copies, "bytes": held, "rows": []}
    generator = torch.Generator().manual_seed(0)
    for done, rows in enumerate(ROWS):
        progress("sweep over rows", done, len(ROWS))
        x = torch.randn(rows, plan.size, generator=generator)
        inputs = {label: x.bfloat16() if label == "bf16" else x for label in stacks}
        times = {label: [] for label in stacks}
        with torch.inference_mode():
            for number in range(plan.pairs + 1):
                for label in turn(stacks, number):
                    seconds = _through(stacks[label], inputs[label])
                    if number >= 1:  # the first warms up
                        times[label].append(seconds)
        row = {"rows": rows, "seconds": {label: summary(t) for label, t in times.items()}}
        if not plan.fast:
            best = [min(pair) for pair in zip(times[DENSE], times["bf16"])]
            row["ratios"] = {
                label: summary([b / t for b, t in zip(best, times[label])])
                for label in stacks if label not in (DENSE, "bf16")
            }  # fmt: skip
        found["rows"].append(row)
    return found


def _through(stack: list, x) -> float:
    """Seconds a layer."""
    start = time.perf_counter()
    for layer in stack:
        layer(x)
    return (time.perf_counter() - start) / len(stack)


def _stacks(size: int, copies: int) -> tuple[dict, dict[str, int]]:
    """{name: layers} and {name: bytes a layer holds}; all hold copies of one random matrix."""
    import torch

    from minillm.compress.linear import QuantLinear
    from minillm.compress.quant import encode
    from minillm.model import Linear

    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(size, size, generator=generator) * 0.02
    stacks = {DENSE: [], "bf16": [], "int8": [], "int4": [], "w8a8": []}
    for label, stack in stacks.items():
        if label in (DENSE, "bf16"):
            layer = Linear(size, size, bias=False)
            layer.weight.data = weight.bfloat16() if label == "bf16" else weight
        else:
            group = 64 if label == "int4" else None
            layer = QuantLinear(
                encode(weight, label, group, True, torch.bfloat16), label, compute="fast"
            )
        stack += [deepcopy(layer) for _ in range(copies)]
        if label not in (DENSE, "bf16"):
            _through(stack, torch.zeros(1, size))  # layouts are made
    held = {label: stacks[label][0].weight.nbytes for label in (DENSE, "bf16")}
    held |= {s: sum(stacks[s][0].weight_bytes().values()) for s in ("int8", "int4", "w8a8")}
    return stacks, held
