"""What fewer bits cost in quality: a real model on a frozen text, the default model on its tasks.

Deterministic for a machine and a version of torch; takes the better part of an hour on two cores.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from minillm.bench import _circumstances
from minillm.files import LoadError

TEXTS = Path(__file__).parent / "assets" / "quality"
REAL = "gemma3-270m"
ROWS = (  # name, simulated, arguments
    ("int8", False, dict(scheme="int8")),
    ("int4 RTN", False, dict(scheme="int4")),
    ("int4 RTN, zero points", False, dict(scheme="int4", symmetric=False)),
    ("NF4", False, dict(scheme="nf4")),
    ("int4 GPTQ", False, dict(scheme="int4", method="gptq")),
    ("int4 AWQ", False, dict(scheme="int4", method="awq")),
    ("w8a8", False, dict(scheme="w8a8")),
    ("3 bits RTN", True, dict(bits=3)),
    ("3 bits GPTQ", True, dict(bits=3, method="gptq")),
    ("3 bits AWQ", True, dict(bits=3, method="awq")),
    ("2 bits RTN", True, dict(bits=2)),
    ("2 bits GPTQ", True, dict(bits=2, method="gptq")),
    ("2 bits AWQ", True, dict(bits=2, method="awq")),
)
BITS, METHODS = (8, 6, 5, 4, 3, 2), ("rtn", "gptq", "awq")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class QualityPlan:
    """What the quality suite judges."""

    window: int = 1024  # tokens read at once, each window led by the begin-of-text token
    tokens: int | None = None  # of the test text; None: all
    compared: int = 4096  # of them, for KL divergence and the same next token
    calibration: int = 8192  # tokens, of another text
    piece: int = 512  # tokens of a calibration text
    count: int = 200  # unseen items a task of the default model
    real: bool = True
    fast: bool = False

    def quick(self) -> QualityPlan:
        """A check that everything works: the default model only, few items and bits."""
        return replace(self, fast=True, real=False, count=5)


def quality_suite(plan: QualityPlan, progress: Progress = lambda *_: None, earlier=None) -> dict:
    """Run the suite -> a report of plain values. Ctrl-C keeps what was judged until then.

    earlier: an interrupted report of the same plan and the same libraries: its rows are kept and
    the run goes on behind them; any other report is not looked at.
    """
    report = {"suite": "quality", "interrupted": False, "fast": plan.fast, **_circumstances()}
    report |= {"plan": asdict(plan), "real": None, "tasks": [], "not_tried": []}
    if goes_on(earlier, report):
        report |= {"real": earlier["real"], "tasks": earlier["tasks"], "resumed": True}
    try:
        _tasks(plan, report, progress)
        if plan.real:
            try:
                _real(plan, report, progress)
            except LoadError as error:
                report["not_tried"].append(f"{REAL}: {error}")
    except KeyboardInterrupt:
        report["interrupted"] = True
    return report


def goes_on(earlier, report: dict) -> bool:
    """Whether an earlier report stopped in the middle of this very run."""
    same = ("suite", "fast", "plan", "versions")
    plain = lambda value: json.loads(json.dumps(value))
    try:
        return earlier["interrupted"] and all(earlier[k] == plain(report[k]) for k in same)
    except (TypeError, KeyError):
        return False


def real_texts(plan, model, tokenizer):
    """-> (test text, pieces of it to compare at, calibration texts of another file, BOS), ids.

    plan: how many tokens of each, as QualityPlan has them.
    """
    read = lambda name: tokenizer.encode((TEXTS / f"{name}.txt").read_text("utf-8"))
    test, other = read("test")[: plan.tokens], read("calibration")[: plan.calibration]
    bos = model.config.bos_token_id
    pieces = [[bos, *other[i : i + plan.piece]] for i in range(0, len(other), plan.piece)]
    seen = [[bos, *test[i : i + plan.window]] for i in range(0, plan.compared, plan.window)]
    return test, seen, pieces, bos


def _real(plan: QualityPlan, report: dict, progress: Progress) -> None:
    from minillm.load import load

    progress(f"{REAL}: loading", 0, len(ROWS) + 1)
    model, tokenizer = load(REAL, dtype="fp32")
    test, seen, pieces, bos = real_texts(plan, model, tokenizer)
    entry = report["real"] = report["real"] or {"model": REAL, "tokens": len(test), "rows": []}
    judge = lambda m, original: _judge(m, original, test, seen, plan.window, bos)
    done = {row["name"] for row in entry["rows"]}
    if "fp32" not in done:
        entry["rows"].append({"name": "fp32", "bits": 32.0} | judge(model, None))
    for number, (name, simulated, options) in enumerate(ROWS, 1):
        if name in done:
            continue
        progress(f"{REAL}: {name}", number, len(ROWS) + 1)
        start = time.perf_counter()
        new, kept = _make(model, simulated, options, pieces)
        row = {"name": name, "bits": kept, "simulated": simulated}
        row["seconds"] = time.perf_counter() - start
        entry["rows"].append(row | judge(new, model))


def _make(model, simulated: bool, options: dict, pieces):
    """-> (compressed model, bits a weight, scales included)."""
    from minillm.compress.compare import bits_per_weight
    from minillm.compress.quant import quantize, simulate

    texts = pieces if options.get("method", "rtn") != "rtn" else None
    if simulated:  # scales as they would be kept: float32, one for 64 columns
        return simulate(model, calibration=texts, **options), options["bits"] + 32 / 64
    new = quantize(model, calibration=texts, **options)
    return new, bits_per_weight(new)


def _judge(model, original, test, seen, window: int, bos: int) -> dict:
    from minillm.compress.compare import distance
    from minillm.compress.evaluate import perplexity

    model = _plain(model)
    found = {"perplexity": perplexity(model, test, window, window, bos)}
    return found | (asdict(distance(original, model, seen)) if original else {})


def _plain(model):
    """Dense weights in the place of packed ones, so that reading thousands of tokens is quick.

    The oracle dequantises at every call; the products are the same. w8a8 rounds activations too
    and stays as it is.
    """
    from torch import nn

    from minillm.compress.linear import QuantLinear
    from minillm.model import Linear

    for name, layer in list(model.named_modules()):
        if isinstance(layer, QuantLinear) and layer.scheme != "w8a8":
            dense = Linear(layer.in_features, layer.out_features, bias=False, device="meta")
            dense.weight = nn.Parameter(layer.dequantize(), requires_grad=False)
            dense.bias = layer.bias
            parent, _, last = name.rpartition(".")
            setattr(model.get_submodule(parent), last, dense)
    return model


def _tasks(plan: QualityPlan, report: dict, progress: Progress) -> None:
    """The default model at 8 to 2 bits by three methods: which task breaks first."""
    from minillm.compress import evaluate
    from minillm.compress.calibrate import own_texts
    from minillm.compress.quant import simulate
    from minillm.load import load

    model, tokenizer = load("tiny", dtype="fp32")
    texts = own_texts(tokenizer)
    bits = BITS if not plan.fast else (8, 2)
    plans = [("fp32", 32, None)] + [(m, b, m) for b in bits for m in METHODS]
    done = {(row["method"], row["bits"]) for row in report["tasks"]}
    for number, (name, width, method) in enumerate(plans):
        if (name, width) in done:
            continue
        progress(f"tiny: {width} bits, {name}", number, len(plans))
        new = model
        if method is not None:
            texts_or_none = texts if method != "rtn" else None
            new = simulate(model, width, 64, method, texts_or_none)
        row = {"method": name, "bits": width}
        row["tasks"] = evaluate.tasks(new, tokenizer, plan.count)
        row["tales_perplexity"] = evaluate.tale_perplexity(new, tokenizer, plan.count)
        report["tasks"].append(row)
