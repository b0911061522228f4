"""Proves the grader: every exercise's fresh, reference, wrong and right answers get their verdict.

python -m exercises.grading.proof                   all exercises
python -m exercises.grading.proof 4.2 4.3           some
python -m exercises.grading.proof --cheats -j 2     and the cheats, two at a time
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from exercises.grading import cheats, kernels, spec
from exercises.grading.limits import Limits
from exercises.grading.runner import Children, GraderError, Report, grade

STUDENTS = ("", "student-7")  # personal questions: for whom they are asked
REJECTED = ("wrong", "changed inputs", "forbidden", "output")


@dataclass(frozen=True)
class Attempt:
    """One answer and the verdict that it must get."""

    exercise: str
    kind: str  # fresh | reference | wrong | right | choice | cheat
    name: str
    text: str  # of the file
    entry: str
    statuses: tuple[str, ...]  # any of these is as it must be
    named: bool = False  # its own name must be the one that the grader says
    student: str = ""
    limits: Limits = Limits()


@dataclass(frozen=True)
class Row:
    """An attempt and what became of it."""

    attempt: Attempt
    report: Report
    fine: bool


def attempts(exercise_id: str) -> Iterator[Attempt]:
    """Every answer of one exercise that must be judged as what it is (kernels: with Triton)."""
    exercise = spec.get(exercise_id)
    if exercise.kind == "kernel" and not kernels.available():
        return
    for student in STUDENTS if exercise.kind in ("predict", "choose") else ("",):
        yield from _own(exercise, student)
    yield from _fresh(exercise)
    if exercise.kind == "choose":
        yield from _choices(exercise)


def _own(exercise: spec.Exercise, student: str) -> Iterator[Attempt]:
    right, at = ("right",), f" ({student})" if student else ""
    text = _text(exercise, "reference")
    entry = exercise.entry
    if exercise.kind != "choose":
        yield Attempt(exercise.id, "reference", entry + at, text, entry, right, student=student)
    for kind, statuses in (("wrong", REJECTED), ("right", right)):
        text = _text(exercise, kind)
        for name in spec.variants(exercise.id, kind):
            yield Attempt(
                exercise.id, kind, name + at, text, name, statuses, kind == "wrong", student
            )


def _text(exercise: spec.Exercise, kind: str) -> str:
    return spec.file_of(exercise.id, kind).read_text(encoding="utf-8")


def _fresh(exercise: spec.Exercise) -> Iterator[Attempt]:
    """The file as it is given: as a file nobody touched, and run all the same."""
    given = ("wrong",) if exercise.kind in ("hunt", "slow", "break") else ("not started",)
    text = spec.fresh_text(exercise.id)
    yield Attempt(exercise.id, "fresh", "untouched", text, "", given)
    yield Attempt(exercise.id, "fresh", "one line more", text + "\n# mine\n", "", given)
    if exercise.kind == "hunt":
        folder = spec.file_of(exercise.id, "fresh").parent
        for path in sorted(folder.glob(f"ex{exercise.number}_*.py")):
            text = path.read_text(encoding="utf-8")
            yield Attempt(exercise.id, "fresh", path.stem, text, exercise.entry, given)


def _choices(exercise: spec.Exercise) -> Iterator[Attempt]:
    """Every choice as a learner writes it."""
    accepted = spec.accepted(exercise.id, "")
    for key in exercise.choices:
        statuses = ("right",) if key in accepted else ("wrong",)
        yield Attempt(exercise.id, "choice", key, f"answer = {key!r}\n", "", statuses)


def try_it(attempt: Attempt, children: Children, folder: Path, seed: str) -> Row:
    """Grade one attempt in a real child."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        path = Path(own) / "answer.py"
        path.write_text(attempt.text, encoding="utf-8")
        try:
            report = grade(
                attempt.exercise, path, entry=attempt.entry or None, seed=seed,
                student=attempt.student, children=children, limits=attempt.limits,
            )  # fmt: skip
        except Exception as error:
            text = str(error) if isinstance(error, GraderError) else f"{error!r}"
            report = Report(attempt.exercise, "grader error", seed, text, "grader")
    fine = report.status in attempt.statuses
    # a false mend may be the fault itself: then it is named as what was given
    given = ("fresh",) if spec.get(attempt.exercise).kind in ("hunt", "slow") else ()
    if attempt.named and report.status == "wrong":
        fine = fine and report.equals in (attempt.entry, *given)
    return Row(attempt, report, fine)


def prove(
    todo: list[Attempt], children: Children, jobs: int = 1, seed: str = "proof"
) -> Iterator[Row]:
    """Rows in the order of `todo`, as they are ready."""
    with tempfile.TemporaryDirectory(prefix="proof-") as folder, ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda a: try_it(a, children, Path(folder), seed), todo)


def cheat_attempts() -> list[Attempt]:
    """The cheats whose exercise is there."""
    there = set(spec.all_ids())
    return [
        Attempt(c.exercise, "cheat", c.name, c.text, c.entry, c.statuses, limits=c.limits)
        for c in cheats.all_cheats()
        if c.exercise in there and (kernels.available() or spec.get(c.exercise).kind != "kernel")
    ]


def line(row: Row, width: int = 90) -> tuple[str, ...]:
    attempt, report = row.attempt, row.report
    said = report.status + (f", equals {report.equals}" if report.equals else "")
    if not row.fine:
        said += f"; must be {' or '.join(attempt.statuses)}"
        said += f" and named {attempt.entry}" if attempt.named else ""
        said += f": {report.message}"
    mark = "ok" if row.fine else "BAD"
    return attempt.exercise, attempt.kind, attempt.name, said, mark, f"{report.seconds:.2f}"


def show(rows: Iterator[Row], total: int, every: bool) -> list[Row]:
    """Print a table; without `every` only the misjudged and one line an exercise."""
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    console, found = Console(), []
    table = Table("exercise", "kind", "answer", "verdict", "", "s", title="Proof of the grader")
    quiet = not console.is_terminal
    for row in track(rows, "judging", total, console=console, disable=quiet, transient=True):
        found.append(row)
        if every or not row.fine:
            table.add_row(*line(row), style=None if row.fine else "bold red")
    if table.row_count:
        console.print(table)
    console.print(_summary(found))
    return found


def _summary(rows: list[Row]):
    from rich.table import Table

    kinds = ("fresh", "reference", "wrong", "right", "choice", "cheat")
    table = Table("exercise", *kinds, title="as they must be / tried")
    for exercise_id in dict.fromkeys(r.attempt.exercise for r in rows):
        cells = []
        for kind in kinds:
            own = [r for r in rows if (r.attempt.exercise, r.attempt.kind) == (exercise_id, kind)]
            cells.append(f"{sum(r.fine for r in own)}/{len(own)}" if own else "")
        table.add_row(exercise_id, *cells)
    return table


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m exercises.grading.proof", description=__doc__)
    parser.add_argument("ids", nargs="*", help="exercises (none: all)")
    parser.add_argument("--cheats", action="store_true", help="also the cheats")
    parser.add_argument("--all", action="store_true", help="a line for every answer")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="answers at a time")
    parser.add_argument("--seed", default="proof", help="of the cases")
    parser.add_argument("--children", default="auto", choices=("auto", "fork", "spawn"))
    options = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        todo = [a for i in options.ids or spec.all_ids() for a in attempts(i)]
    except ValueError as error:  # no such exercise
        parser.error(str(error))
    if options.cheats:
        todo += cheat_attempts()
    with Children(options.children) as children:
        rows = prove(todo, children, options.j, options.seed)
        found = show(rows, len(todo), options.all or bool(options.ids))
    bad = [r for r in found if not r.fine]
    seconds = time.monotonic() - began
    print(f"{len(found)} answers judged in {seconds:.0f} s, {len(bad)} misjudged")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
