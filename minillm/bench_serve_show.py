"""The serve suite's report as tables for a terminal, each figure beside the goal set for it."""

from __future__ import annotations

from minillm.bench_serve_engines import BATCH, CONTINUOUS, MANAGER, PADDED, STATIC
from minillm.bench_show import _add_row, _interval

LABELS = {
    CONTINUOUS: "minillm, continuous",
    STATIC: "minillm, static batches",
    PADDED: "transformers, left-padded batches",
    MANAGER: "transformers, its continuous batching",
    BATCH: "transformers, generate_batch",
}
GOALS = {STATIC: 2.0, PADDED: 2.0, BATCH: 5.0}  # times as long as continuous, of tiny


def render(report: dict):
    """A serve_suite report -> a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    machine, versions = report["machine"], report["versions"]
    head = (
        f"serving, fp32, greedy: {machine['cpu']}, {machine['threads']} threads, "
        f"torch {versions['torch']}"
    )
    blocks = [Text(head, style="bold")]
    for entry in report["loads"]:
        if entry["samples"]:
            blocks += [Text(""), _load_table(entry)]
    if report["parts"]:
        blocks += [Text(""), _parts_table(report)]
    blocks += [Text(f"not tried: {line}", style="yellow") for line in report["not_tried"]]
    if report["interrupted"]:
        blocks.append(Text("interrupted: this is what was measured until then", style="yellow"))
    if report["fast"]:
        blocks.append(Text("fast mode: too few and too small runs, so no ratio is claimed"))
    return Group(*blocks)


def _load_table(entry: dict):
    from rich.table import Table

    title = (
        f"{entry['model']}: {entry['count']} requests ({entry['jobs']}), {entry['seats']} seats, "
        f"{entry['prompt_tokens']} prompt tokens, {entry['written']} written; "
        f"{len(entry['samples'])} rounds, [95% interval] of the median"
    )
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("engine")
    for name in ("steps", "tokens/s", "continuous is faster by", "goal", "same answers"):
        table.add_column(name, justify="right")
    for name, speed in entry["tokens_per_s"].items():
        steps, goal = entry["steps"][name], GOALS.get(name) if entry["model"] == "tiny" else None
        _add_row(
            table,
            LABELS[name],
            "not told" if steps is None else str(steps),
            f"{speed['median']:.0f}",
            "" if name == CONTINUOUS else _interval(entry["ratio"].get(name)),
            "" if goal is None else f">= {goal:.1f}x",
            _same(entry["same"][name]),
        )
    goal = "" if entry["model"] != "tiny" else ">= 2.0x"
    ratio = f"{entry['steps_ratio']:.2f}x (steps)"
    _add_row(table, "static against continuous", "", "", ratio, goal, "")
    return table


def _same(count: dict) -> str:
    total = sum(count.values())
    extra = [f"{count[k]} {k}" for k in ("ties", "different") if count[k]]
    return ", ".join([f"{count['equal']} of {total}", *extra])


def _parts_table(report: dict):
    from rich.table import Table

    found = report["parts"]
    table = Table(title="parts, tiny", title_justify="left", box=None)
    for name, justify in (("what", "left"), ("measured", "right"), ("goal", "right")):
        table.add_column(name, justify=justify)
    for row in _parts_rows(found, report["fast"]):
        _add_row(table, *row)
    return table


def _parts_rows(found: dict, fast: bool):
    us = lambda summary: f"{1e6 * summary['median']:.1f} us"
    if "scheduler" in found:
        what = "scheduler, a request and step, 256 writing"
        yield what, us(found["scheduler"]), "<= 30 us"
    if "waiting_ratio" in found:
        for count, value in found["waiting"].items():
            yield f"its step, 64 writing, {count:,} waiting", us(value), "flat"
        yield "most against fewest waiting", _interval(found["waiting_ratio"]), "about 1"
    if "block_share" in found:
        yield "prefix cache, nothing found: hashing a block", us(found["block"]), ""
        share = f"{found['block_share']:.3%}"
        yield "the same as a share of a step of 8 rows", share, "< 2%"
    if "ttft" in found:
        t = found["ttft"]
        what = f"time to first token, {t['length']} tokens, 90% of them seen"
        ms = f"{1e3 * t['computed']['median']:.1f} -> {1e3 * t['cached']['median']:.1f} ms"
        yield what, ms, ""
        if not fast:
            yield "the same as a ratio", _interval(t["ratio"]), ">= 3.0x"
    if "waste" in found:
        w = found["waste"]
        trace = f"{w['requests']} requests of {w['mean_length']:.0f} tokens on average"
        yield f"waste, {trace}: reserve-max", f"{w['reserve-max']['waste']:.1%}", "60 to 80%"
        yield "waste: paged, blocks of 16", f"{w['paged']['waste']:.1%}", "< 4%"
