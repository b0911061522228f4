"""What fewer weights cost and buy: a pruned real model, the default model cut and trained again.

Three parts: perplexity of gemma3-270m by method; quality and bytes of `tiny` for every
combination of pruning, recovery and quantising; speed of `blank` treated alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from minillm.bench import _circumstances
from minillm.bench_prune_speed import sizes, speed
from minillm.bench_quality import REAL, _judge, goes_on, real_texts
from minillm.bench_stats import ENOUGH
from minillm.files import LoadError

REAL_ROWS = tuple(
    (f"{method}, {what}", dict(method=method.lower(), **options))
    for what, options in (("50%", dict(sparsity=0.5)), ("2:4", dict(pattern="2:4")))
    for method in ("magnitude", "Wanda", "SparseGPT")
)
PRUNED = ("magnitude", "wanda", "sparsegpt")
SHARES = (0.3, 0.5, 0.6, 0.7)  # sparsities of tiny
PACKED = (None, "int8", "int4")  # each combination as it is, and packed
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class PrunePlan:
    """What the prune suite measures."""

    window: int = 1024  # tokens read at once, each window led by the begin-of-text token
    tokens: int | None = 8192  # of the test text; None: all
    compared: int = 1024  # of them, for KL divergence and the same next token
    calibration: int = 8192  # tokens, of another text
    piece: int = 512  # tokens of a calibration text
    count: int = 200  # unseen items a task of the default model
    steps: int = 300  # of recovery, for the 2:4 model; the shrunk one ships trained
    step_tokens: int = 2048
    pairs: int = ENOUGH
    new_tokens: int = 16
    real: bool = True
    fast: bool = False

    def quick(self) -> PrunePlan:
        """A check that everything works: the default model only, few items and steps."""
        small = dict(real=False, count=3, steps=2, step_tokens=512, pairs=2, new_tokens=4)
        return replace(self, fast=True, **small)


def prune_suite(plan: PrunePlan, progress: Progress = lambda *_: None, earlier=None) -> dict:
    """Run the suite -> a report of plain values. Ctrl-C keeps what was done until then.

    earlier: an interrupted report of the same plan and libraries; the run goes on behind it.
    """
    report = {"suite": "prune", "interrupted": False, "fast": plan.fast, **_circumstances()}
    report |= {"plan": asdict(plan), "real": None, "methods": [], "combinations": []}
    report |= {"layers": [], "speed": None, "not_tried": []}
    if goes_on(earlier, report):
        kept = ("real", "methods", "combinations", "layers", "speed")
        report |= {key: earlier[key] for key in kept} | {"resumed": True}
    try:
        speed(plan, report, progress)
        _tiny(plan, report, progress)
        if plan.real:
            try:
                _real(plan, report, progress)
            except LoadError as error:
                report["not_tried"].append(f"{REAL}: {error}")
    except KeyboardInterrupt:
        report["interrupted"] = True
    return report


def _real(plan: PrunePlan, report: dict, progress: Progress) -> None:
    """Perplexity of the real model; calibration text and test text are different files."""
    from minillm.compress.prune import prune
    from minillm.load import load

    model, tokenizer = load(REAL, dtype="fp32")
    test, seen, pieces, bos = real_texts(plan, model, tokenizer)
    entry = report["real"] = report["real"] or {"model": REAL, "tokens": len(test), "rows": []}
    done = {row["name"] for row in entry["rows"]}
    for number, (name, options) in enumerate((("dense", None), *REAL_ROWS)):
        if name in done:
            continue
        progress(f"{REAL}: {name}", number, len(REAL_ROWS) + 1)
        new, original = model, None
        if options is not None:
            texts = pieces if options["method"] != "magnitude" else None
            new, original = prune(model, calibration=texts, **options), model
        found = _judge(new, original, test, seen, plan.window, bos)
        entry["rows"].append({"name": name} | (options or {}) | found)


def _tiny(plan: PrunePlan, report: dict, progress: Progress) -> None:
    from minillm.compress.calibrate import own_texts
    from minillm.compress.prune import prune
    from minillm.compress.tiny_shrunk import judge
    from minillm.load import load

    model, tokenizer = load("tiny", dtype="fp32")
    texts = own_texts(tokenizer, 10 if plan.fast else 100)
    if not report["layers"]:
        report["layers"] = without_each_layer(model, tokenizer, plan.count, progress)
    done = {(row["method"], row["sparsity"]) for row in report["methods"]}
    shares = (0.5, "2:4") if plan.fast else (*SHARES, "2:4")
    wanted = [("dense", 0.0)] + [(m, s) for m in PRUNED for s in shares]
    for number, (method, share) in enumerate(wanted):
        if (method, share) in done:
            continue
        progress(f"tiny: {method} {share}", number, len(wanted))
        new = model
        if method != "dense":
            how = dict(pattern=share) if share == "2:4" else dict(sparsity=share)
            calibration = texts if method != "magnitude" else None
            new = prune(model, method, calibration=calibration, **how)
        report["methods"].append(
            {"method": method, "sparsity": share} | judge(new, tokenizer, plan.count)
        )
    _combine(plan, model, tokenizer, texts, report, progress)


def without_each_layer(model, tokenizer, count: int, progress: Progress = lambda *_: None) -> list:
    """Quality without layer 0, 1, ... beside what block influence says of it."""
    from minillm.compress.calibrate import own_texts
    from minillm.compress.importance import block_influence
    from minillm.compress.shrink import shrink
    from minillm.compress.tiny_shrunk import judge

    layers = model.config.num_layers
    influence = block_influence(model, own_texts(tokenizer, 20))
    rows = []
    for gone in range(layers):
        progress("tiny: without one layer", gone, layers)
        small = shrink(model, layers=[i for i in range(layers) if i != gone])
        row = {"gone": gone, "influence": influence[gone]}
        rows.append(row | judge(small, tokenizer, count))
    return rows


def _combine(plan: PrunePlan, model, tokenizer, texts, report: dict, progress: Progress) -> None:
    """Prune, recover, quantise: what is left of quality, and what is left to store."""
    from minillm.compress.quant import quantize
    from minillm.compress.tiny_shrunk import judge

    done = {row["name"] for row in report["combinations"]}
    for start, make in _starts(plan, model, tokenizer, texts).items():
        names = [start if packed is None else f"{start}, {packed}" for packed in PACKED]
        if done >= set(names):
            continue
        progress(f"tiny: {start}", len(report["combinations"]), 15)
        dense, seconds = make()
        for name, packed in zip(names, PACKED):
            new = dense if packed is None else quantize(dense, packed)
            row = {"name": name, "start": start, "packed": packed, "recovery_s": seconds}
            row |= sizes(new, stored_24=packed is None and start.startswith("2:4"))
            if name not in done:
                report["combinations"].append(row | judge(new, tokenizer, plan.count))


def _starts(plan: PrunePlan, model, tokenizer, texts) -> dict:
    """{name: a function that makes the model -> (model, seconds of training)}."""
    from tqdm import tqdm

    from minillm.compress.prune import prune
    from minillm.compress.recover import finetune
    from minillm.compress.shrink import shrink
    from minillm.compress.tiny_shrunk import RECORD, REMAINS
    from minillm.load import load

    quiet = lambda **options: tqdm(disable=True, **options)
    half = lambda: prune(model, "sparsegpt", pattern="2:4", calibration=texts)

    def trained():
        import time

        start = time.perf_counter()
        settings = dict(steps=plan.steps, tokens_per_step=plan.step_tokens)
        new = finetune(half(), tokenizer, teacher=model, progress=quiet, **settings)
        return new, time.perf_counter() - start

    def shipped():
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        return load("tiny-shrunk", dtype="fp32")[0], record["seconds"]

    return {
        "dense": lambda: (model, 0.0),
        "2:4": lambda: (half(), 0.0),
        "2:4, trained again": trained,
        "shrunk": lambda: (shrink(model, calibration=texts, **REMAINS), 0.0),
        "shrunk, trained again": shipped,
    }
