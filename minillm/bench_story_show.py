"""The story as tables for a terminal and as one picture; prints nothing that was not measured."""

from __future__ import annotations

from pathlib import Path

from minillm.bench_show import _add_row
from minillm.bench_story_rows import ALL, FLOAT, STEPS
from minillm.workload import COUNT

ONE_RUN = (
    "Rows cannot take turns here, as the pairs of other suites do: each row is one run. A second "
    "pass went through them in reversed order until time was over; the faster run counts, "
    "'runs apart' says how far the other one was behind (empty: there was none). Differences of "
    "a few percent mean nothing, and where runs are far apart the machine was busy."
)


def render(report: dict):
    """A story_suite report -> a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    parts = [Text(_headline(report), style="bold")]
    if report["rows"]:
        parts += [Text(_setting(report)), Text(""), _speed_table(report), Text("")]
        parts += [_held_table(report), Text(""), *_reasons(report)]
    for side in report["sides"]:
        parts += [Text(""), _side_table(side)]
    if report["rows"]:
        parts += [Text(""), Text(ONE_RUN)]
    parts += [Text(f"not tried: {line}", style="yellow") for line in report["not_tried"]]
    if report["interrupted"]:
        parts.append(Text("interrupted: this is what was measured until then", style="yellow"))
    if report["fast"]:
        parts.append(Text("fast mode: too few and too small runs, so no ratio is claimed"))
    return Group(*parts)


def _headline(report: dict) -> str:
    machine, versions = report["machine"], report["versions"]
    where = f"{machine['cpu']}, {machine['threads']} threads"
    if report.get("gpu"):
        where = f"{report['gpu']}, {where}"
    return f"the story of workload W, greedy: {where}, torch {versions['torch']}"


def _setting(report: dict) -> str:
    model, plan = report["model"], report["plan"]
    return (
        f"Speed and bytes: a blank model of {model['bytes'] / 1e6:.0f} MB in {report['dtype']}; "
        f"weights and K/V of a row never hold more than {report['budget'] / 1e6:.1f} MB together. "
        f"A row runs the first of W's {COUNT} requests, so many as its line says. Quality: tiny, "
        f"perplexity of {plan['tales']} unseen tales, {plan['items']} unseen items of each task."
    )


def _table(title: str, *columns: str, first: int = 12):
    """first: characters of the first column that are never cut."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None)
    table.add_column(columns[0], min_width=first)
    for name in columns[1:]:
        table.add_column(name, justify="right")
    return table


def _speed_table(report: dict):
    prompt, rows = report["plan"]["prompt"], report["rows"]
    names = [row["name"] for row in (*rows, *report["peers"])]
    table = _table(
        f"speed, tokens/s: all requests together; one user alone; reading {prompt} tokens", "",
        "requests", "together", "runs apart", "x row before", "x first", f"x {FLOAT}", "one user",
        "of bandwidth", "reading", first=max(map(len, names)),
    )  # fmt: skip
    for before, row in zip([None, *rows], rows):
        _add_row(
            table, *_together(row, [before, *_others(row, rows)], report["fast"]),
            f"{row['one_user']:.1f}", f"{row['one_user'] / row['bound']:.0%}",
            f"{row['reading']:.0f}",
        )  # fmt: skip
    for row in report["peers"]:
        alone = [f"{row['one_user']:.1f}", "", f"{row['reading']:.0f}"] if "one_user" in row else []
        _add_row(table, *_together(row, [None, rows[0], None], report["fast"]), *alone or [""] * 3)
    return table


def _others(row: dict, rows: list[dict]) -> list[dict | None]:
    """The first row, and the one that this step started from."""
    compared = {step.name: step.compared for step in STEPS}[row["name"]]
    start = next((r for r in rows if r["name"] == compared), None)
    return [rows[0] if row is not rows[0] else None, start]


def _together(row: dict, others: list[dict | None], fast: bool) -> list[str]:
    ratios = [_ratio(row, None if fast else other) for other in others]
    runs = row.get("runs", [])
    apart = f"{1 - min(runs) / max(runs):.0%}" if len(runs) > 1 else ""
    requests = f"{row['requests']} of {COUNT}"
    return [row["name"], requests, f"{row['tokens_per_s']:.1f}", apart, *ratios]


def _ratio(row: dict, other: dict | None) -> str:
    return f"{row['tokens_per_s'] / other['tokens_per_s']:.2f}x" if other else ""


def _held_table(report: dict):
    table = _table(
        "memory, waiting, quality", "", "weights, MB", "K/V, MB", "blocks", "requests at once",
        "sent back", "TTFT p50", "perplexity", "tasks",
    )  # fmt: skip
    for row in report["rows"]:
        blocks = f"{row['blocks']} of {row['block_size']}" if row["blocks"] else ""
        back = str(row["preemptions"]) if row["blocks"] else ""
        _add_row(
            table, row["name"], f"{row['weight_bytes'] / 1e6:.1f}",
            f"{row['cache_bytes'] / 1e6:.1f}", blocks, str(row["at_once"]), back,
            f"{row['ttft_p50']:.2f} s", f"{row['perplexity']:.3f}", f"{row['accuracy']:.0%}",
        )  # fmt: skip
    return table


def _reasons(report: dict):
    """One line a step: what it does, and where it wins nothing."""
    from rich.text import Text

    done = {row["name"] for row in report["rows"]}
    yield Text("what each step does, and where it wins nothing", style="italic")
    for step in STEPS:
        if step.name in done:
            yield Text(f"  {step.name} (chapter {step.chapter}): {step.why}")
    if any(row["name"].startswith("transformers") for row in report["peers"]):
        yield Text("  transformers: as it comes, in float32, on as much memory as it takes")
    for row in report["peers"]:
        if "same_first" in row:
            yield Text(
                f"  {row['name']}: as it comes, K/V in 16 bits, all requests at once; a file of "
                f"{row['file_bytes'] / 1e6:.1f} MB, whose first token is ours for "
                f"{row['same_first']} of {row['requests']} requests"
            )
    if FLOAT in done:
        yield Text(f"  int8 to {ALL}: each starts from the row '{FLOAT}', not from the row before")


def _side_table(side: dict):
    title = f"{side['name']}: {side['what']}"
    table = _table(title, "", "tokens/s", "TTFT p50", "requests at once", "prompt tokens found")
    for run in side["runs"]:
        found = f"{run['cached_tokens']} of {run['prompt_tokens']}"
        _add_row(table, run["name"], f"{run['tokens_per_s']:.1f}", f"{run['ttft_p50']:.2f} s",
                 str(run["at_once"]), found)  # fmt: skip
    return table


def draw(report: dict, path: Path) -> None:
    """Write the picture of the rows as a PNG; nothing where no row was measured."""
    from minillm.show.story import story_bars

    if report["rows"]:
        picture = story_bars(report["rows"], report["budget"], report["peers"])
        path.write_bytes(picture.png())
