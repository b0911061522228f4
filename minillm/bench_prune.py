"""What fewer weights cost and buy: a pruned real model, the default model cut and trained again.

Three parts: perplexity of gemma3-270m by method; quality and bytes of `tiny` for every
combination of pruning, recovery and quantising; speed of `blank` treated alike.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from minillm.bench import _circumstances
from minillm.bench_quality import REAL, TEXTS, _judge, goes_on
from minillm.bench_stats import ENOUGH, summary, turn
from minillm.files import LoadError

REAL_ROWS = tuple(
    (f"{method}, {what}", dict(method=method.lower(), **options))
    for what, options in (("50%", dict(sparsity=0.5)), ("2:4", dict(pattern="2:4")))
    for method in ("magnitude", "Wanda", "SparseGPT")
)
PRUNED = ("magnitude", "wanda", "sparsegpt")
SHARES = (0.3, 0.5, 0.6, 0.7)  # sparsities of tiny
PACKED = (None, "int8", "int4")  # each combination as it is, and packed
CONTEXT = 256  # tokens behind the counted FLOPs of one token
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class PrunePlan:
    """What the prune suite measures."""

    window: int = 1024  # tokens read at once, each window led by the begin-of-text token
    tokens: int | None = None  # of the test text; None: all
    compared: int = 4096  # of them, for KL divergence and the same next token
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
        _speed(plan, report, progress)
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
    read = lambda name: tokenizer.encode((TEXTS / f"{name}.txt").read_text("utf-8"))
    test, other = read("test")[: plan.tokens], read("calibration")[: plan.calibration]
    bos = model.config.bos_token_id
    pieces = [[bos, *other[i : i + plan.piece]] for i in range(0, len(other), plan.piece)]
    seen = [[bos, *test[i : i + plan.window]] for i in range(0, plan.compared, plan.window)]
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
    from minillm.compress.prune import prune
    from minillm.compress.tiny_shrunk import judge, own_texts
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
    from minillm.compress.importance import block_influence
    from minillm.compress.shrink import shrink
    from minillm.compress.tiny_shrunk import judge, own_texts

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


def sizes(model, stored_24: bool = False) -> dict:
    """Parameters that are not 0, bytes held, FLOPs of one token, K/V bytes of one token.

    stored_24: linear layers counted in 2:4 form, as sparse.sparsify really holds them.
    """
    from minillm import clock
    from minillm.compress.sparse import sparsify

    held = sparsify(model) if stored_24 else model
    total = sum(sum(kinds.values()) for kinds in held.weight_bytes().values())
    cost = clock.step_cost(model.config, 1, CONTEXT, 4, 4)
    return {
        "parameters": model.num_parameters(), "bytes": total, "flops": cost.flops,
        "kv_bytes": model.config.kv_bytes_per_token(4),
    }  # fmt: skip


def _speed(plan: PrunePlan, report: dict, progress: Progress) -> None:
    """Decoding of `blank`, dense and treated alike, every engine in turn."""
    if report["speed"]:
        return
    from minillm.bench import prompt_of

    engines = speed_engines()
    prompt = prompt_of(engines["dense"], 32)
    for engine in engines.values():
        engine.run(prompt, plan.new_tokens)  # warm-up
    times = {name: [] for name in engines}
    for pair in range(plan.pairs):
        progress("blank: rounds", pair, plan.pairs)
        for name in turn(engines, pair):
            times[name].append(engines[name].run(prompt, plan.new_tokens).per_token_s)
    dense, rows = times["dense"], []
    for name, engine in engines.items():
        row = {"name": name, "per_token_s": summary(times[name])} | sizes(engine.model)
        if not plan.fast:
            row["ratio"] = summary([a / b for a, b in zip(dense, times[name])])
        rows.append(row)
    report["speed"] = {
        "model": "blank", "new_tokens": plan.new_tokens, "rows": rows,
        "threads": report["machine"]["threads"],
    }  # fmt: skip


def speed_engines() -> dict:
    """{name: our engine with `blank` treated so}."""
    from minillm.bench_engines import Ours
    from minillm.compress.prune import prune
    from minillm.compress.quant import quantize
    from minillm.compress.shrink import shrink
    from minillm.load import load

    model, tokenizer = load("blank", dtype="fp32")
    small = shrink(model, **shares_of(model.config))
    fast = dict(compute="fast", head="int8")
    models = {
        "dense": model, "50% zeros": prune(model), "shrunk": small,
        "int8": quantize(model, "int8", **fast),
        "int4": quantize(model, "int4", **fast),
        "shrunk, int8": quantize(small, "int8", **fast),
        "shrunk, int4": quantize(small, "int4", **fast),
    }  # fmt: skip

    def engine(m):
        new = Ours.__new__(Ours)
        new.model, new.tokenizer = m, tokenizer
        return new

    return {name: engine(m) for name, m in models.items()}


def shares_of(config, share: float = 0.7) -> dict:
    """What remains of another model if it is cut as the shipped tiny-shrunk was.

    5 of 6 layers and 3 of 4 query heads, rounded to what there is, and as many channels (a
    multiple of 64 where there are that many) as make `share` of the parameters.
    """
    from minillm.clock import num_parameters

    layers = max(1, int(config.num_layers * 5 / 6 + 0.5))
    heads = max(config.num_kv_heads, config.num_heads * 3 // 4)
    heads -= heads % config.num_kv_heads
    size = lambda channels: num_parameters(
        replace(
            config, num_layers=layers, num_heads=heads, mlp_width=channels,
            windows=config.windows[:layers], rope_of_layer=config.rope_of_layer[:layers],
        )
    )  # fmt: skip
    step = min(64, config.mlp_width)
    wanted, choices = share * num_parameters(config), range(step, config.mlp_width + 1, step)
    channels = min(choices, key=lambda c: abs(size(c) - wanted))
    return {"layers": layers, "heads": heads, "channels": channels}
