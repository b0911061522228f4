"""The rows of the scoreboard: what one holds, where rows are kept, and the table of them. No torch.

Your own rows lie with your progress (git-ignored); the recorded ones are part of the repository.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from minillm.files import new_file
from minillm.repository import progress_folder
from minillm.workload import COUNT, workload

RECORDED = Path(__file__).parent / "assets" / "recorded_rows.json"
COLUMNS = (
    "", "requests", "MB", "TTFT p50", "one user", "total", "perplexity", "tasks",
)  # fmt: skip

LEGEND = (
    "requests: of the workload's 32. MB: weights and cache at their peak. TTFT p50: when half of "
    "the requests had their first token; > where only the first requests were run. total: all "
    "requests together."
)


@dataclass(frozen=True)
class Row:
    """What one way of serving W costs."""

    name: str
    requests: int  # of W's 32 that were run, the first ones
    bytes: int  # weights and cache at their peak
    ttft_p50: float  # seconds from the start, when all requests are there, to the first token
    one_user: float  # tokens per second of one request alone, its first token not counted
    total: float  # tokens per second over all requests, reading the prompts included
    perplexity: float | None  # of tiny, a token of unseen tales; None: not measured
    accuracy: float | None  # of tiny, share of unseen tasks answered exactly, 0..1
    machine: str
    fast: bool = False  # small sizes: not kept, and not to be compared


def own_file() -> Path:
    """Where the learner's own rows lie."""
    return progress_folder() / "scoreboard.json"


def read_rows(path: Path) -> list[Row]:
    """The rows in a file; [] if there is none or it cannot be read (they can be run again)."""
    known = {f.name for f in fields(Row)}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return [Row(**{k: v for k, v in row.items() if k in known}) for row in found]
    except (OSError, ValueError, TypeError, AttributeError):
        return []


def keep_row(row: Row, path: Path, order: Sequence[str] = ()) -> None:
    """Put a row into a file, in place of an older one of its name.

    order: names in the order in which the rows are to stand, others after them.
    """
    rows = read_rows(path)
    names = [r.name for r in rows]
    if row.name in names:
        rows[names.index(row.name)] = row
    else:
        rows.append(row)
    rows.sort(key=lambda r: order.index(r.name) if r.name in order else len(order))
    with new_file(path) as file:
        file.write((json.dumps([asdict(r) for r in rows], indent=1) + "\n").encode())


def how_long(names: Sequence[str]) -> str:
    """Minutes at the recorded speeds: W alone, so a lower limit of the whole run."""
    answers = [job.answer for job in workload(1024)]
    known = [row for row in read_rows(RECORDED) if row.name in names]
    seconds = sum(sum(answers[: row.requests]) / row.total for row in known)
    minutes = "a minute or two" if seconds < 90 else f"{seconds / 60:.0f} minutes or more"
    at_least = f", {minutes} at the recorded speeds" if known else ""
    return f"{len(names)} row{'s' * (len(names) != 1)}{at_least}; name one to run only that"


def cells(row: Row) -> tuple[str, ...]:
    """What the table says of a row.

    Where not all of W was run, requests at its end are missing, which would have waited longer:
    the median is above what was seen.
    """
    ttft = f"{row.ttft_p50:.2f} s"
    return (
        row.name + (" (fast mode)" if row.fast else ""),
        f"{row.requests} of {COUNT}",
        f"{row.bytes / 1e6:.1f}",
        ttft if row.requests == COUNT else f"> {ttft}",
        f"{row.one_user:.1f} tok/s",
        f"{row.total:.1f} tok/s",
        "-" if row.perplexity is None else f"{row.perplexity:.3f}",
        "-" if row.accuracy is None else f"{row.accuracy:.1%}",
    )


def table(extra: Sequence[Row] = (), later: bool = False):
    """Your rows, and under each the recorded one of its name -> show.Table.

    extra: rows that were just run; they stand here even if they were not kept (fast mode). The
    table ends with the last of them: a chapter does not show rows that only a later one explains.
    later: show those, too.
    """
    from minillm.show.score import Table

    own = {row.name: row for row in [*read_rows(own_file()), *extra]}
    recorded = {row.name: row for row in read_rows(RECORDED)}  # in the course's order
    course, ran = list(recorded), {row.name for row in extra}
    ends = [nth for nth, name in enumerate(course) if name in ran]
    hidden = set(course[max(ends) + 1 :] if ends and not later else ())
    own, recorded = ({k: v for k, v in rows.items() if k not in hidden} for rows in (own, recorded))
    lines = []
    for name in dict.fromkeys([*recorded, *own]):  # the course's order, then what is new
        lines += [(cells(own[name]), True)] if name in own else []
        lines += [(cells(recorded[name]), False)] if name in recorded else []
    return Table(COLUMNS, tuple(lines), note(own, recorded))


def note(own: dict[str, Row], recorded: dict[str, Row]) -> str:
    """Which machines the rows come from."""
    said = []
    for label, rows in (("yours", own), ("recorded", recorded)):
        machines = sorted({row.machine for row in rows.values()})
        said += [f"{label}: {' / '.join(machines)}"] if machines else []
    return "; ".join(said)
