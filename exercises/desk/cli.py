"""The commands of `python -m exercises`. What they do stands in the files beside this one."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exercises.desk import cli_class, names, progress
from exercises.desk import help as ladder
from minillm import cli_exit

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    help="The exercises: what is done, what is right, and help. Begin with: status",
)
Id = Annotated[
    str, typer.Argument(help="an exercise: 4.2", metavar="ID, like 4.2", show_default=False)
]
Ids = Annotated[
    list[str],
    typer.Argument(help="4.2, a chapter (4), or all", metavar="ID..., like 4.2"),
]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


@app.command()
def status(
    which: Annotated[list[str] | None, typer.Argument(metavar="[ID...]")] = None,
    as_json: Json = False,
):
    """What is solved, failing, parked, not started; minutes left. With ids: those only."""
    from exercises.desk import status as view

    rows = view.facts(names.many_ids(which or ["all"]))
    if as_json:
        _print_json(rows)
    elif which and len(rows) == 1:
        print(view.card(rows[0]))
    else:
        console = _console()
        console.print(view.fitting(rows, console), soft_wrap=True)


@app.command()
def check(which: Ids, as_json: Json = False):
    """Grade your answers. Exit code 1 if one is not right."""
    from exercises.desk import answers, words
    from exercises.desk import status as view
    from exercises.desk.checking import check as one
    from exercises.grading.runner import Children

    ids, failed, right, seen = names.many_ids(which), 0, 0, []
    data, waiting = progress.load(), []
    with Children() if len(ids) > 1 else contextlib.nullcontext() as children:
        for exercise_id in _progress_bar(ids, quiet=as_json):
            alone = as_json or len(ids) == 1
            if not alone and answers.state(exercise_id, data) == "not started":
                waiting.append(exercise_id)
                continue
            try:
                result = one(exercise_id, children)
            except Exception as error:
                if len(ids) == 1:
                    raise
                failed += 1
                print(f"{exercise_id} could not be graded: {type(error).__name__}: {error}")
                continue
            failed += result.report.status not in ("right", "cannot run here")
            right += result.report.ok
            if as_json:
                seen.append(_facts(result.report))
            else:
                _say(words.as_rich(result.lines() if len(ids) == 1 else result.lines()[:4]))
    if as_json:
        _print_json(seen)
    elif len(ids) > 1:
        if waiting:
            print(f"not started: {', '.join(waiting)}")
        print(f"{right} of {len(ids)} right")
    elif right:
        print(view.after(ids[0]))
    raise typer.Exit(1 if failed or waiting else 0)


@app.command()
def explain(which: Id):
    """The smallest input on which your answer fails, with a cell to paste."""
    from exercises.desk.explain import explain as find

    print(find(names.one_id(which)))


@app.command()
def trace(which: Id):
    """The first value inside your function that differs from ours of the same name."""
    from exercises.desk.trace import trace as find

    print(find(names.one_id(which)))


@app.command()
def hint(which: Id, everything: Annotated[bool, typer.Option("--all", help="all three")] = False):
    """The next of three hints: a question, formula and shapes, a skeleton with one blank."""
    print(ladder.hint(names.one_id(which), everything))


@app.command()
def solution(which: Id):
    """Our answer and its difference to yours, after one try of your own."""
    print(ladder.solution(names.one_id(which)))


@app.command()
def park(which: Id, undo: Annotated[bool, typer.Option("--undo")] = False):
    """Leave it for later."""
    print(ladder.park(names.one_id(which), undo))


@app.command()
def ask(which: Id):
    """One block of text for a friend or an AI tutor; our answer is not in it."""
    from exercises.desk.checking import check as one

    exercise_id = names.one_id(which)
    print(ladder.ask(exercise_id, one(exercise_id).lines()))


@app.command()
def reset(
    which: Id,
    student: Annotated[str | None, typer.Option(help="with this student's numbers")] = None,
):
    """The untouched text again. Your answer is kept in the backups."""
    print(ladder.reset(names.one_id(which), student))


@app.command()
def backups(
    which: Id,
    restore: Annotated[int | None, typer.Option(help="take back this one: 1, 2, ...")] = None,
):
    """Every text of yours that was ever overwritten, and how to get it back."""
    from exercises.desk import answers

    exercise_id = names.one_id(which)
    if restore is not None:
        print(ladder.restore(exercise_id, restore))
        return
    kept = answers.backups(exercise_id)
    if not kept:
        print(f"{exercise_id} has no backups: no text of yours was overwritten")
    for number, path in enumerate(kept, start=1):
        print(f"{number:3d}  {path.stat().st_size:6d} bytes  {answers.shown(path)}")


@app.command()
def student(name: Annotated[str | None, typer.Argument(metavar="[ID]")] = None):
    """Set your id: predictions, choices and hunts get numbers of your own. Without ID: show it."""
    if name is None:
        print(progress.student() or "no id yet: python -m exercises student YOUR-ID")
        return
    from exercises.desk import answers

    name = names.student_id(name)
    done, left = answers.personalise(name)
    print(f"your id is {name!r}; {len(done)} untouched questions have your numbers now")
    if done:
        print("read the one you had begun to reckon again, its numbers are other ones")
    if left:
        print(f"begun already, so left as they are: {', '.join(left)} (reset ID changes one)")


@app.command()
def pack(
    file: Annotated[Path, typer.Argument(help="for example mine.zip; an older pack is replaced")],
):
    """Answers, progress, backups and scoreboard in one file, to take to another machine."""
    from exercises.desk import carry

    print(carry.pack(file))


@app.command()
def unpack(file: Annotated[Path, typer.Argument(help="a file that pack made")]):
    """Take over what pack made. Answers that stand here are kept in the backups."""
    from exercises.desk import carry

    print(carry.unpack(file))


app.command()(cli_class.grade)  # the teacher's command stands last in the list


def _facts(report) -> dict:
    keys = ("exercise", "status", "message", "message_id", "equals", "seed", "seconds")
    return {key: getattr(report, key) for key in keys}


def _progress_bar(ids: list[str], quiet: bool):
    """ids, with a bar on stderr while a terminal watches and there is more than one."""
    from tqdm import tqdm

    off = quiet or len(ids) < 2 or not sys.stderr.isatty()
    return tqdm(ids, disable=off, leave=False, unit="exercise")


def _say(renderable) -> None:
    """Print above the progress bar, not through it."""
    from tqdm import tqdm

    with tqdm.external_write_mode():
        _print(renderable)


def _print(renderable) -> None:
    _console().print(renderable, soft_wrap=True)


def _console():
    from rich.console import Console

    wide = sys.stdout.isatty() or "ipykernel" in sys.modules
    return Console(width=None if wide else 160)


def _print_json(value) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1, default=str))


def run(argv: list[str]) -> int:
    """Run one command line -> exit code; an expected error is one line on stderr."""
    return cli_exit.run(app, argv, "exercises")


def main() -> None:
    """Entry point of `python -m exercises`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(run(sys.argv[1:]))
