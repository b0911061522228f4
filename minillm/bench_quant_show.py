"""A quant_suite report as tables for a terminal; prints nothing that was not measured."""

from __future__ import annotations

from minillm.bench_quant import DENSE
from minillm.bench_show import _add_row, _bound, _interval, _spread


def render(report: dict):
    """-> a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    machine, versions = report["machine"], report["versions"]
    head = f"quantised weights: {machine['cpu']}, {machine['threads']} threads, "
    parts = [Text(head + f"torch {versions['torch']}", style="bold"), Text(_bound(report))]
    if report["sweep"] and report["sweep"]["rows"]:
        parts += [Text(""), _sweep_table(report["sweep"])]
    for entry in report["models"]:
        if entry["engines"]:
            parts += [Text(""), _model_table(entry)]
    parts += [Text(f"not tried: {line}", style="yellow") for line in report["not_tried"]]
    if report["interrupted"]:
        parts.append(Text("interrupted: this is what was measured until then", style="yellow"))
    if report["fast"]:
        parts.append(Text("fast mode: too few and too small runs, so no ratio is claimed"))
    return Group(*parts)


def _model_table(entry: dict):
    from rich.table import Table

    title = f"{entry['model']}: ms, median (least to most); above 1x is faster than fp32"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("weights")
    for name in ("ms a token", "decoding", "ms to read the prompt", "reading", "MB of weights"):
        table.add_column(name, justify="right")
    for label, found in entry["engines"].items():
        ratio = entry["ratios"].get(label, {})
        held = entry["bytes"].get(label)
        size = sum(sum(kinds.values()) for kinds in held.values()) / 1e6 if held else None
        _add_row(
            table, label, _spread(found["per_token_s"]), _ratio(label, ratio, "per_token_s"),
            _spread(found["read_s"]), _ratio(label, ratio, "read_s"),
            f"{size:.1f}" if size else "not measured",
        )  # fmt: skip
    return table


def _ratio(label: str, ratio: dict, key: str) -> str:
    return "" if label == DENSE else _interval(ratio.get(key))


def _sweep_table(sweep: dict):
    from rich.table import Table

    size = sweep["size"]
    title = (
        f"one linear layer {size} x {size}: the better of fp32 and bf16 over each; [95% interval]"
    )
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("rows", justify="right")
    names = [n for n in sweep["bytes"]]
    for name in names:
        table.add_column(f"{name}, ms" if name in (DENSE, "bf16") else name, justify="right")
    for row in sweep["rows"]:
        cells = []
        for name in names:
            if name in (DENSE, "bf16"):
                cells.append(f"{1e3 * row['seconds'][name]['median']:.2f}")
            else:
                cells.append(_interval(row.get("ratios", {}).get(name)))
        _add_row(table, str(row["rows"]), *cells)
    _add_row(table, "MB held", *(f"{sweep['bytes'][n] / 1e6:.2f}" for n in names))
    return table
