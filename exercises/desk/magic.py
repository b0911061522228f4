"""%%exercise 4.2 in a notebook: the cell becomes the learner's file and is graded.

%exercise 4.2 grades the file as it is; %exercise hint 4.2 runs a command of the command line.
"""

from __future__ import annotations

import ast
import atexit
import functools

from exercises.desk import answers, progress, words
from exercises.grading import spec
from minillm.files import in_words


class Shown:
    """Lines that a notebook shows as HTML, and everything else as text."""

    def __init__(self, lines: list[tuple[str, str]]):
        self.lines = lines

    def __repr__(self) -> str:
        return words.as_text(self.lines)

    def _repr_html_(self) -> str:
        return words.as_html(self.lines)


def register(shell) -> None:
    """Give the magic to an IPython shell; calling it again changes nothing."""
    shell.register_magic_function(exercise, "line_cell", "exercise")
    try:
        back = answers.bring_back()
    except OSError as error:  # a Drive that is full or away must not stop a notebook
        print(f"answers kept in {answers.mirror()} were not brought back: {in_words(error)}")
        return
    if back:
        print(f"brought back from {answers.mirror()}: your answers to {', '.join(back)}")


def exercise(line: str, cell: str | None = None) -> None:
    """%%exercise 4.2 saves this cell as your answer and checks it; %exercise 4.2 only checks.

    %exercise hint 4.2 runs a command: status, explain, trace, hint, park, solution, ...
    """
    from IPython.display import display

    words_ = line.split()
    try:
        if cell is None and len(words_) > 1:
            from exercises.desk import cli

            cli.run(words_)
            return
        if len(words_) != 1:
            mark = "%" if cell is None else "%%"
            raise ValueError(f"write the number of an exercise: {mark}exercise 4.2")
        display(Shown(run(words_[0], cell)))
    except (ValueError, OSError) as error:
        said = in_words(error) if isinstance(error, OSError) else str(error)
        display(Shown([("wrong", said)]))


def run(exercise_id: str, cell: str | None) -> list[tuple[str, str]]:
    """Save the cell (None: leave the file), grade, -> lines to show."""
    from exercises.desk.checking import check
    from exercises.desk.names import one_id

    exercise_id = one_id(exercise_id)
    if cell is not None:
        must_be_an_answer(exercise_id, cell)
    notes = [] if cell is None else keep(exercise_id, cell)
    return check(exercise_id, children(), notes).lines()


def must_be_an_answer(exercise_id: str, cell: str) -> None:
    """ValueError if a cell of valid Python does not make what is asked for: it is not saved."""
    entry = spec.get(exercise_id).entry
    try:
        nodes = list(ast.walk(ast.parse(cell)))
    except (SyntaxError, ValueError, RecursionError):
        return  # half an answer is one
    made = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    made |= {n.name for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    made |= {n.asname or n.name for n in nodes if isinstance(n, ast.alias)}
    if nodes[1:] and entry not in made:
        raise ValueError(
            f"this cell makes no {entry}, so it was not saved and {exercise_id} was not graded: "
            "the whole answer belongs into one cell"
        )


@functools.cache
def children():
    """One fork server as long as the notebook lives: torch is imported once, not at every cell."""
    from exercises.grading.runner import Children

    kept = Children()
    atexit.register(kept.close)
    return kept


def keep(exercise_id: str, cell: str) -> list[str]:
    """Write the cell's text to the learner's file unless it is a fresh one -> notes."""
    path = answers.the_one(exercise_id)
    here = answers.shown(path)
    if not cell.strip() or answers.is_fresh(exercise_id, cell):
        old = answers.read(exercise_id)
        if old is None and not path.exists():
            answers.begin(exercise_id, progress.student())
        elif old is None or not answers.is_fresh(exercise_id, old.decode("utf-8", "replace")):
            return [f"this cell is untouched, so your answer in {here} was graded"]
        return own_question(exercise_id, cell)
    try:
        saved = answers.save(exercise_id, cell)
    except OSError as error:
        said = in_words(error)
        raise OSError(f"{here} was not written ({said}); your text is still in the cell") from None
    notes = [f"saved in {here}"] if saved.changed else []
    if saved.backup:
        notes[0] += f"; its old text is kept: python -m exercises backups {exercise_id}"
    return notes + own_question(exercise_id, cell)


def own_question(exercise_id: str, cell: str) -> list[str]:
    """A notebook asks with everybody's numbers; a student with an id has others."""
    student = progress.asker(exercise_id)
    if not student or spec.get(exercise_id).kind not in ("predict", "choose"):
        return []
    own = spec.fresh_text(exercise_id, student)
    asked = answers.tidy(own).partition("answer =")[0].strip()
    if asked in answers.tidy(cell):
        return []
    return [f"your own question (student {student}) has other numbers; answer this one:", asked]
