"""A benchmark's report as tables for a terminal; prints nothing that was not measured."""

from __future__ import annotations

from minillm.bench_engines import OURS, PEER
from minillm.bench_stats import ENOUGH


def render(report: dict):
    """A decode_suite report -> a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    parts = [Text(_headline(report), style="bold"), Text(_bound(report))]
    measured = [e for e in report["models"] if e["engines"]]
    if measured:
        parts += [Text(""), _speed_table(measured, report)]
    if any(len(e["engines"]) > 1 for e in measured):
        parts += [Text(""), _ratio_table(measured, report)]
    parts += [Text(f"not tried: {line}", style="yellow") for line in report["not_tried"]]
    if report["interrupted"]:
        parts.append(Text("interrupted: these are the pairs measured until then", style="yellow"))
    if report["fast"]:
        parts.append(Text("fast mode: too few and too small runs, so no ratio is claimed"))
    return Group(*parts)


def _headline(report: dict) -> str:
    machine, versions = report["machine"], report["versions"]
    peer = f", transformers {versions['transformers']}" if report["plan"]["peers"] else ""
    return (
        f"decode, batch 1, fp32, greedy: {machine['cpu']}, {machine['threads']} threads, "
        f"torch {versions['torch']}{peer}"
    )


def _bound(report: dict) -> str:
    found = report["read_bandwidth"]
    if not found:
        return "read bandwidth: not measured"
    where = "outside" if found["outside_cache"] else "NOT outside"
    return (
        f"read bandwidth {found['bytes_per_second'] / 1e9:.1f} GB/s, measured {where} the "
        f"last-level cache; a step that reads every weight once cannot be faster"
    )


def _speed_table(entries: list[dict], report: dict):
    from rich.table import Table

    table = Table(title="speed: median (least to most)", title_justify="left", box=None)
    for name in ("model", "engine"):
        table.add_column(name)
    for name in ("tokens/s", "ms a token", "of bandwidth", "first token, ms", "peak memory"):
        table.add_column(name, justify="right")
    cache = report["machine"]["last_level_cache_bytes"] or 0
    for entry in entries:
        in_cache = " (in cache)" if entry["bytes_per_token"] < cache else ""
        for engine, found in entry["engines"].items():
            memory = entry["memory"].get(engine)
            _add_row(
                table,
                entry["model"],
                engine,
                f"{found['tokens_per_s']:.1f}",
                _spread(found["per_token_s"]),
                f"{found['share_of_bandwidth']:.0%}{in_cache}",
                _spread(found["first_s"]),
                f"{memory['peak_bytes'] / 2**20:.0f} MiB" if memory else "not measured",
            )
    return table


def _ratio_table(entries: list[dict], report: dict):
    from rich.table import Table

    title = f"{OURS} against {PEER}: above 1 is faster; [95% interval] of the median"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("model")
    for name in ("decoding", "whole request", "pairs", "memory"):
        table.add_column(name, justify="right")
    table.add_column("same tokens")
    for entry in entries:
        ratio, memory = entry["ratio"] or {}, entry["memory"]
        both = len(memory) == 2 and memory[OURS]["peak_bytes"] / memory[PEER]["peak_bytes"]
        _add_row(
            table,
            entry["model"],
            _interval(ratio.get("decode")),
            _interval(ratio.get("request")),
            f"{len(entry['samples'])}{'' if len(entry['samples']) >= ENOUGH else ' (few)'}",
            f"{both:.2f}x" if both and not report["fast"] else "not measured",
            _tokens(entry["tokens"]),
        )
    return table


def _add_row(table, *cells: str) -> None:
    """Cells as they are: rich would take [words in brackets] for its markup."""
    from rich.text import Text

    table.add_row(*map(Text, cells))


def _spread(found: dict) -> str:
    middle, least, most = (1e3 * found[k] for k in ("median", "least", "most"))
    return f"{middle:.2f} ({least:.2f} to {most:.2f})"


def _interval(found: dict | None) -> str:
    if found is None:
        return "not claimed"
    if found["low"] is None:
        return f"{found['median']:.2f}x [too few]"
    return f"{found['median']:.2f}x [{found['low']:.2f}, {found['high']:.2f}]"


def _tokens(found: dict | None) -> str:
    if found is None:
        return "not compared"
    if found["gap"] is None:
        return f"all {found['of']}"
    kind = "a tie" if found["tie"] else "DIFFERENT"
    return f"first {found['equal']} of {found['of']}, then {kind} (gap {found['gap']:.1e})"


def with_progress(suite, plan) -> dict:
    """Run a suite with a bar on stderr that is gone when it is done."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("measuring the memory's speed", total=None)

        def progress(what: str, done: int, total: int) -> None:
            bar.update(line, description=what, completed=done, total=total)

        return suite(plan, progress)
