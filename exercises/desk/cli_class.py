"""`python -m exercises grade FOLDER`: the command for teachers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from exercises.desk import answers, files, names
from exercises.grading import spec


def grade(
    folder: Annotated[Path, typer.Argument(help="one sub-folder (or packed .zip) a learner")],
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="learners at once")] = 1,
    which: Annotated[str, typer.Option("--exercises", help="0,1.2,4: chapters and ids")] = "all",
    student: Annotated[str | None, typer.Option(help="FOLDER is the one of this learner")] = None,
    to_csv: Annotated[Path | None, typer.Option("--csv", help="one row a learner")] = None,
    to_json: Annotated[Path | None, typer.Option("--json", help="everything; - is stdout")] = None,
    junit: Annotated[Path | None, typer.Option(help="JUnit XML")] = None,
    gradescope: Annotated[
        Path | None, typer.Option(help="results.json, or a folder for one file a learner")
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="where results go at once; default: FOLDER.journal")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="keep what the journal knows of unchanged files")
    ] = False,
    limit: Annotated[float, typer.Option(min=1, help="seconds for one submission")] = 300.0,
    seed: Annotated[
        str, typer.Option(help="of the random inputs; the same for everybody")
    ] = "class",
):
    """Grade a class. Exit code 0: all graded (right or not); 1: the grader itself had a fault.

    Untrusted answers belong into a container: exercises/README.md says how.
    """
    from exercises.desk import class_reports as reports
    from exercises.desk import classroom, submissions

    for file in (to_csv, to_json, junit):  # before minutes are spent on grading
        if file and str(file) != "-":
            files.check_place(file)
    ids = names.many_ids([part for part in which.replace(" ", "").split(",") if part])
    if away := [i for i in ids if not answers.can_run(spec.get(i))]:
        ids = [i for i in ids if i not in away]
        print(f"this machine cannot run {', '.join(away)}: left out", file=sys.stderr)
    folder = folder.absolute()
    if student is None:
        people, other = submissions.find(folder)
        if other:
            print(f"no learner's folder, so left out: {', '.join(other)}", file=sys.stderr)
    elif folder.is_dir():
        people = [submissions.read_folder(folder, student)]
    else:
        raise ValueError(f"{folder} is not a folder")
    libraries = Path(sys.prefix).is_relative_to(folder)  # answers may import these
    plan = classroom.Plan(ids, jobs, seed, limit, () if libraries else (str(folder),))
    notes = classroom.Journal(journal or folder.with_name(f"{folder.name}.journal"), resume)
    results = _run(people, plan, notes)
    if to_csv:
        files.write(to_csv, reports.as_csv(people, results, ids).encode("utf-8-sig"))
    if to_json and str(to_json) != "-":
        files.write(to_json, reports.as_json(people, results).encode())
    if junit:
        files.write(junit, reports.as_junit(people, results))
    if gradescope:
        reports.write_gradescope(gradescope, people, results)
    if str(to_json) == "-":
        print(reports.as_json(people, results))
    else:
        _show(people, results, ids)
    raise typer.Exit(1 if any(r.status == "grader error" for r in results) else 0)


def _run(people, plan, notes):
    """Grade under a progress bar; after Ctrl-C say how to go on."""
    from tqdm import tqdm

    from exercises.desk import classroom

    total, off = len(people) * len(plan.ids), not sys.stderr.isatty()
    try:
        with tqdm(total=total, disable=off, unit="answer", leave=False) as bar:
            return classroom.grade(people, plan, notes, bar.update)
    except KeyboardInterrupt:
        print(f"stopped. Go on with --resume (results so far: {notes.path})", file=sys.stderr)
        raise


def _show(people, results, ids) -> None:
    from rich.console import Console

    from exercises.desk import class_reports as reports

    console = Console(width=None if sys.stdout.isatty() else 160)
    full = reports.table(people, results, ids)
    unlimited = console.options.update(max_width=10_000)
    fits = console.measure(full, options=unlimited).minimum <= console.width
    console.print(full if fits else reports.table(people, results, ids, wide=False))
    if not fits:
        console.print("the chapters do not fit into this terminal: --csv or --json has them")
    faults = reports.same_faults(results)
    if faults:
        console.print("\nThe same wrong answer:", style="bold")
        for line in faults:
            console.print(f"  {line}", markup=False, highlight=False)
    for r in results:
        if r.status == "grader error":
            text = f"{r.exercise} of {r.student!r}: {r.message}"
            console.print(f"fault of the grader in {text}", markup=False, style="red")
