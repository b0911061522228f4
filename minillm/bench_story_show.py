"""The story as tables for a terminal and as one picture; prints nothing that was not measured."""

from __future__ import annotations

from pathlib import Path

from minillm.bench_show import _add_row
from minillm.bench_story_rows import ALL, FLOAT, STEPS
from minillm.workload import COUNT

ONE_RUN = (
    "Each row is one run: such rows cannot take turns, as the pairs of other suites do. A machine "
    "that slows down meanwhile slows the later rows, and a few percent mean nothing; what is run "
    "again says how far two runs differ."
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
    if report["repeats"] and not report["fast"]:
        parts += [Text(""), _repeat_table(report["repeats"])]
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
    if report.get("device") == "cuda":
        where = f"{report.get('gpu', 'a GPU')} ({where})"
    return f"the story of workload W, greedy: {where}, torch {versions['torch']}"


def _setting(report: dict) -> str:
    model, plan = report["model"], report["plan"]
    return (
        f"Speed and bytes: a blank model of {model['bytes'] / 1e6:.0f} MB in {report['dtype']}; "
        f"weights and K/V of a row never hold more than {report['budget'] / 1e6:.1f} MB together. "
        f"A row runs the first of W's {COUNT} requests, so many as its line says. Quality: tiny, "
        f"perplexity of {plan['tales']} unseen tales, {plan['items']} unseen items of each task."
    )


def _table(title: str, *columns: str):
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None)
    table.add_column(columns[0])
    for name in columns[1:]:
        table.add_column(name, justify="right")
    return table


def _speed_table(report: dict):
    title = "speed: tokens/s of all requests together, and of one user alone"
    table = _table(
        title, "", "requests", "tokens/s", "x row before", "x first", f"x {FLOAT}", "one user",
        "of bandwidth", "TTFT p50",
    )  # fmt: skip
    rows = report["rows"]
    base = {step.name: step.compared for step in STEPS}
    for before, row in zip([None, *rows], rows):
        alike = [r for r in rows if r["name"] == base.get(row["name"])]
        ratios = (before, rows[0] if before else None, alike[0] if alike else None)
        _add_row(
            table, row["name"], f"{row['requests']} of {COUNT}", f"{row['tokens_per_s']:.1f}",
            *("" if report["fast"] else _ratio(row, other) for other in ratios),
            f"{row['one_user']:.1f}", f"{row['one_user'] / row['bound']:.0%}",
            f"{row['ttft_p50']:.2f} s",
        )  # fmt: skip
    for row in report["peers"]:
        cells = ("", "" if report["fast"] else _ratio(row, rows[0]))
        _add_row(table, row["name"], f"{row['requests']} of {COUNT}", f"{row['tokens_per_s']:.1f}",
                 *cells, "", "", "", "")  # fmt: skip
    return table


def _ratio(row: dict, other: dict | None) -> str:
    return f"{row['tokens_per_s'] / other['tokens_per_s']:.2f}x" if other else ""


def _held_table(report: dict):
    table = _table(
        "memory and quality", "", "weights, MB", "K/V, MB", "blocks", "requests at once",
        "sent back", "perplexity", "tasks",
    )  # fmt: skip
    for row in report["rows"]:
        blocks = f"{row['blocks']} of {row['block_size']}" if row["blocks"] else ""
        back = str(row["preemptions"]) if row["blocks"] else ""
        _add_row(
            table, row["name"], f"{row['weight_bytes'] / 1e6:.1f}",
            f"{row['cache_bytes'] / 1e6:.1f}", blocks, str(row["at_once"]), back,
            f"{row['perplexity']:.3f}", f"{row['accuracy']:.0%}",
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


def _repeat_table(entries: list[dict]):
    table = _table("run again, in reversed order", "", "first", "again")
    for entry in entries:
        ratios = (f"{after / before:.2f}x" for before, after in entry["tokens_per_s"])
        _add_row(table, f"{entry['after']} against {entry['before']}", *ratios)
    return table


def draw(report: dict, path: Path) -> None:
    """Write the picture of the rows as a PNG; nothing where no row was measured."""
    from minillm.show.story import story_bars

    if report["rows"]:
        picture = story_bars(report["rows"], report["budget"], report["peers"])
        path.write_bytes(picture.png())
