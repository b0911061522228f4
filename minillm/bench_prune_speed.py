"""What a pruned model holds, and how fast `blank` decodes when it is treated alike."""

from __future__ import annotations

from minillm.bench_stats import summary, turn

CONTEXT = 256  # tokens behind the counted FLOPs of one token


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


def speed(plan, report: dict, progress) -> None:
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
    from minillm.bench_engines import Held
    from minillm.compress.prune import prune
    from minillm.compress.quant import quantize
    from minillm.compress.shrink import shrink
    from minillm.compress.tiny_shrunk import shares_of
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

    return {name: Held(m, tokenizer) for name, m in models.items()}
