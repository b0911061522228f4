"""The gpu suite's report as a table for a terminal; prints nothing that was not measured."""

from __future__ import annotations


def render(report: dict):
    """A gpu_suite report -> a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    parts = [Text(_headline(report), style="bold"), *map(Text, _checks(report))]
    if any("times" in entry for entry in report["kernels"]):
        parts += [Text(""), _table(report)]
    wrong = [e for e in report["kernels"] if not e["right"]]
    parts += [Text(f"WRONG, so not timed: {_why(e)}", style="red") for e in wrong]
    parts += [Text(line) for line in _engine(report["engine"])]
    parts += [Text(f"not tried: {line}", style="yellow") for line in report["not_tried"]]
    if report["interrupted"]:
        parts.append(Text("interrupted: this is what was measured until then", style="yellow"))
    if report["fast"]:
        parts.append(Text("fast mode: too few runs, so no ratio is claimed"))
    return Group(*parts)


def _headline(report: dict) -> str:
    device, versions, found = report["device"], report["versions"], report["bandwidth"]
    bound = f"{found['bytes_per_second'] / 1e9:.0f} GB/s measured" if found else "not measured"
    return (
        f"{device['name']} (sm_{device['capability']}), torch {versions['torch']}, triton "
        f"{versions['triton']}, {report['date']}; memory: {bound}"
    )


def _checks(report: dict) -> list[str]:
    wrong = [entry for entry in report["checks"] if not entry["right"]]
    count = len(report["checks"])
    lines = [f"{count - len(wrong)} of {count} small cases equal their twins"] if count else []
    return lines + [f"WRONG: {_why(entry)}" for entry in wrong]


def _why(entry: dict) -> str:
    if entry["fault"]:
        return f"{entry['case']}: {entry['fault']}"
    return f"{entry['case']}: error {entry['error']}, allowed {entry['allowed']}"


def _table(report: dict):
    from rich.table import Table
    from rich.text import Text

    title = "median, us; [95% interval]; the bound is bytes / measured bandwidth"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("kernel")
    for name in ("MB moved", "bound", "ours", "of the bound", "torch", "ours is faster by"):
        table.add_column(name, justify="right")
    table.add_column("torch's way")
    for entry in (e for e in report["kernels"] if "times" in e):
        cached = "" if entry["outside_cache"] else " (in cache)"
        times, ratio = entry["times"], entry["ratio"]
        cells = (
            entry["case"], f"{entry['bytes'] / 1e6:.1f}", f"{entry['bound_s'] * 1e6:.1f}",
            _micro(times["ours"]), f"{entry['share_of_bound']:.0%}{cached}",
            _micro(times.get("torch")), _ratio(ratio), entry.get("rival", ""),
        )  # fmt: skip
        table.add_row(*map(Text, cells))
    return table


def _micro(found: dict | None) -> str:
    if found is None:
        return "not measured"
    if found["low"] is None:
        return f"{found['median'] * 1e6:.1f}"
    return f"{found['median'] * 1e6:.1f} [{found['low'] * 1e6:.1f}, {found['high'] * 1e6:.1f}]"


def _ratio(found: dict | None) -> str:
    if found is None:
        return "not claimed"
    if found["low"] is None:
        return f"{found['median']:.2f}x [too few]"
    return f"{found['median']:.2f}x [{found['low']:.2f}, {found['high']:.2f}]"


def _engine(found: dict | None) -> list[str]:
    if found is None:
        return []
    if found["fault"]:
        return [f"engine, tiny: FAULT {found['fault']}"]
    return [
        f"engine, tiny, fp16, 16 requests, one run each: {found['plain_tokens_per_s']:.0f} tokens/s"
        f" step by step, {found['graphs_tokens_per_s']:.0f} with CUDA graphs; "
        f"{found['same_texts']} of {found['texts']} texts the same"
    ]
