"""A quality_suite report as tables for a terminal."""

from __future__ import annotations

from minillm.bench_show import _add_row

FURTHER = {"kl": "{:.4f}".format, "top1": "{:.2%}".format, "seconds": "{:.0f}".format}


def render(report: dict):
    """-> a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    versions = report["versions"]
    parts = [Text(f"quality of compressed weights, torch {versions['torch']}", style="bold")]
    if report["tasks"]:
        parts += [Text(""), _task_table(report)]
    if report["real"] and report["real"]["rows"]:
        parts += [Text(""), _real_table(report["real"])]
    parts += [Text(f"not tried: {line}", style="yellow") for line in report["not_tried"]]
    if report["interrupted"]:
        parts.append(Text("interrupted: this is what was judged until then", style="yellow"))
    return Group(*parts)


def _task_table(report: dict):
    from rich.table import Table

    count = report["plan"]["count"]
    title = f"tiny, groups of 64, simulated: exact answers of {count} unseen items a task"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("bits", justify="right")
    table.add_column("method")
    names = list(report["tasks"][0]["tasks"])
    for name in (*names, "tales, perplexity"):
        table.add_column(name, justify="right")
    for row in report["tasks"]:
        shares = [f"{row['tasks'][name]:.3f}" for name in names]
        tales = f"{row['tales_perplexity']:.3f}"
        _add_row(table, str(row["bits"]), row["method"], *shares, tales)
    return table


def _real_table(entry: dict):
    from rich.table import Table

    title = f"{entry['model']}, {entry['tokens']:,} tokens of our own prose and tales"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("weights")
    for name in ("bits a weight", "perplexity", "to fp32", "KL, nats", "same next token", "s"):
        table.add_column(name, justify="right")
    dense = entry["rows"][0]["perplexity"]
    for row in entry["rows"]:
        simulated = " (simulated)" if row.get("simulated") else ""
        _add_row(
            table, row["name"] + simulated, f"{row['bits']:.2f}", f"{row['perplexity']:.2f}",
            f"{row['perplexity'] / dense:.3f}x",
            *(form(row[key]) if key in row else "" for key, form in FURTHER.items()),
        )  # fmt: skip
    return table
