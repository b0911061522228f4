"""A prune_suite report as tables for a terminal."""

from __future__ import annotations

from minillm.bench_show import _add_row


def render(report: dict):
    """-> a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    versions = report["versions"]
    parts = [Text(f"fewer weights, torch {versions['torch']}", style="bold")]
    count = report["plan"]["count"]
    if report["speed"]:
        parts += [Text(""), _speed_table(report["speed"])]
    if report["layers"]:
        title = f"tiny without one layer: exact answers of {count} unseen items a task"
        first = lambda row: (str(row["gone"]), f"{row['influence']:.3f}")
        parts += [Text(""), _quality(title, ("layer gone", "influence"), report["layers"], first)]
    if report["methods"]:
        title = f"tiny, single weights set to 0: exact answers of {count} unseen items a task"
        first = lambda row: (row["method"], str(row["sparsity"]))
        parts += [Text(""), _quality(title, ("method", "share"), report["methods"], first)]
    if report["combinations"]:
        parts += [Text(""), _combinations(report["combinations"], report["speed"])]
    if report["real"] and report["real"]["rows"]:
        parts += [Text(""), _real_table(report["real"])]
    parts += [Text(f"not tried: {line}", style="yellow") for line in report["not_tried"]]
    if report["interrupted"]:
        parts.append(Text("interrupted: this is what was done until then", style="yellow"))
    return Group(*parts)


def _speed_table(speed: dict):
    from rich.table import Table

    title = f"{speed['model']} treated alike: decoding at batch 1"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("weights")
    for name in ("MB", "MFLOP a token", "tokens/s", "to dense", "95% interval"):
        table.add_column(name, justify="right")
    for row in speed["rows"]:
        ratio = row.get("ratio")
        low = ratio and ratio["low"]
        _add_row(
            table, row["name"], f"{row['bytes'] / 1e6:.0f}", f"{row['flops'] / 1e6:.0f}",
            f"{1 / row['per_token_s']['median']:.1f}",
            f"{ratio['median']:.2f}x" if ratio else "",
            f"{low:.2f} to {ratio['high']:.2f}" if low else "",
        )  # fmt: skip
    return table


def _quality(title: str, names: tuple, rows: list, first):
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None)
    for name in names:
        table.add_column(name)
    for name in (*rows[0]["tasks"], "mean", "tales, perplexity"):
        table.add_column(name, justify="right")
    for row in rows:
        shares = [f"{value:.3f}" for value in (*row["tasks"].values(), row["mean"], row["tales"])]
        _add_row(table, *first(row), *shares)
    return table


def _combinations(rows: list, speed: dict | None):
    from rich.table import Table

    title = "tiny, combined; * nothing else here is as small and as good; speed: blank cut alike"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("weights")
    for name in ("MB", "MFLOP a token", "tokens/s", "mean of tasks", "tales", "trained, s"):
        table.add_column(name, justify="right")
    best = pareto([(row["bytes"], -row["mean"]) for row in rows])
    for number, row in enumerate(rows):
        seconds = speed_of(speed, row)
        _add_row(
            table, row["name"] + (" *" if number in best else ""), f"{row['bytes'] / 1e6:.2f}",
            f"{row['flops'] / 1e6:.2f}", f"{1 / seconds:.1f}" if seconds else "",
            f"{row['mean']:.3f}", f"{row['tales']:.3f}",
            f"{row['recovery_s']:.0f}" if row["recovery_s"] else "",
        )  # fmt: skip
    return table


def speed_of(speed: dict | None, row: dict) -> float | None:
    """Seconds a token of `blank` treated as a combination is: training changes no speed."""
    start = "shrunk" if row["start"].startswith("shrunk") else "dense"
    if start == "dense" and row["start"] != "dense" and row["packed"] is None:
        start = "50% zeros"  # stored dense, as it is served
    packed = row["packed"]
    name = start if packed is None else packed if start == "dense" else f"{start}, {packed}"
    found = {r["name"]: r["per_token_s"]["median"] for r in (speed or {"rows": []})["rows"]}
    return found.get(name)


def pareto(points: list[tuple[float, float]]) -> list[int]:
    """Which points no other beats: none is at most as large in both and smaller in one."""
    beats = lambda a, b: a[0] <= b[0] and a[1] <= b[1] and a != b
    return [i for i, p in enumerate(points) if not any(beats(q, p) for q in points)]


def _real_table(entry: dict):
    from rich.table import Table

    title = f"{entry['model']}, {entry['tokens']:,} tokens of our own prose and tales"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("weights")
    for name in ("perplexity", "to dense", "KL, nats", "same next token"):
        table.add_column(name, justify="right")
    dense = entry["rows"][0]["perplexity"]
    for row in entry["rows"]:
        far = (f"{row['kl']:.4f}", f"{row['top1']:.1%}") if "kl" in row else ("", "")
        ratio = f"{row['perplexity'] / dense:.2f}x"
        _add_row(table, row["name"], f"{row['perplexity']:.2f}", ratio, *far)
    return table
