"""For notebooks: what was measured beside what the learner guessed, and the learner's own answers.

Importing it also gives the notebook the magics %%exercise and %exercise.
"""

from __future__ import annotations

import math
import os

from exercises.desk import progress
from exercises.desk.names import one_id
from exercises.grading import spec
from minillm.files import in_words

NEAR = 0.1  # a guess so near is not called too high or too low


def measured(exercise_id: str, value, unit: str, note: str = "") -> None:
    """Print a measured value beside the learner's guess and keep both; nothing without a guess.

    value: a number, or a list or dict of numbers like the answer of the exercise. In fast mode
    (MINILLM_FAST=1) nothing is kept: its sizes are not the ones that were asked for.
    """
    exercise_id, value = one_id(exercise_id), progress.plain(_numbers(value))
    if value is None:
        raise ValueError("measured() takes finite numbers, or a list or dict of them")
    fast = os.environ.get("MINILLM_FAST") == "1"
    guess = progress.load()["exercises"].get(exercise_id, {}).get("guess")
    title = spec.get(exercise_id).title
    print(f"{exercise_id} {title}" + (" (fast mode: small sizes, not kept)" if fast else ""))
    if guess is None:  # a saved output must not give the answer away
        print("  no guess yet: answer it, run this cell again, and both numbers appear here")
        return
    for name, got, said in _pairs(value, guess):
        print(f"  {name}measured {_text(got)} {unit}; {_verdict(got, said, unit)}")
    if note:
        print(f"  {note}")
    if not fast:
        _keep(exercise_id, value, unit, note)


def calibration() -> list[tuple[str, float, float, float]]:
    """(name, guess, measured, |log2(guess / measured)|) of every prediction that was measured.

    The guess is the one that stood when it was first measured: mending it later changes nothing.
    Parts of a list or dict are called "4.5[0]", "4.5[name]".
    """
    rows, entries = [], progress.load()["exercises"]
    for exercise_id in spec.all_ids():
        found = entries.get(exercise_id, {}).get("measured")
        if not isinstance(found, dict) or found.get("guess") is None:
            continue
        for name, got, said in _pairs(found["value"], found["guess"]):
            if _positive(got) and _positive(said):
                part = name[:-2]
                if isinstance(found["value"], list):
                    part = int(part) - 1  # "4.5[0]", as Python counts
                part = f"[{part}]" if name else ""
                rows.append((exercise_id + part, said, got, abs(math.log2(said / got))))
    return rows


def question(exercise_id: str) -> dict:
    """The numbers of a [predict] question as this learner was asked: {"bandwidth": 40, ...}."""
    exercise_id = one_id(exercise_id)
    return spec.cases(exercise_id, progress.asker(exercise_id))[0]


def my_answer(exercise_id: str):
    """Your own function (or class, or number) of an exercise, from your file, as it is now."""
    from exercises.desk import answers

    exercise_id = one_id(exercise_id)
    if spec.get(exercise_id).kind == "kernel":
        from exercises.grading import kernels

        kernels.interpreter()
    path = answers.path_of(exercise_id)
    names: dict = {"__name__": f"answer_{exercise_id}", "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    return names[spec.get(exercise_id).entry]


def my_solution(exercise_id: str):
    """Your own answer if the grader has found it right, else None: a notebook must run without."""
    entry = progress.load()["exercises"].get(one_id(exercise_id), {})
    if entry.get("solved") is not True:
        return None
    try:
        return my_answer(exercise_id)
    except (Exception, SystemExit):  # changed since
        return None


def _keep(exercise_id: str, value, unit: str, note: str) -> None:
    def edit(data):
        one = progress.entry(data, exercise_id)
        before = one.get("measured")
        first = before.get("guess") if isinstance(before, dict) else None
        guess = one.get("guess") if first is None else first
        one["measured"] = {"value": value, "unit": unit, "note": note, "guess": guess}

    try:
        progress.change(edit)
    except OSError as error:
        print(f"  (not kept: {in_words(error)})")


def _numbers(value):
    """Tensors and NumPy numbers as plain ones."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(k): _numbers(v) for k, v in value.items()}
    return [_numbers(v) for v in value] if isinstance(value, (list, tuple)) else value


def _pairs(value, guess) -> list[tuple]:
    """(label, measured, guess or None) for each number; those of a list are 1, 2, 3 as asked."""
    if isinstance(value, dict):
        keys, said = list(value), guess if isinstance(guess, dict) else {}
    elif isinstance(value, list):
        keys = range(len(value))
        said = dict(enumerate(guess)) if isinstance(guess, list) else {}
    else:
        return [("", value, guess if _is_number(guess) else None)]
    label = lambda key: f"{key + 1}: " if isinstance(value, list) else f"{key}: "
    return [(label(k), value[k], said[k] if _is_number(said.get(k)) else None) for k in keys]


def _verdict(got: float, said: float | None, unit: str) -> str:
    if said is None:
        return "no guess yet"
    if not (_positive(got) and _positive(said)):
        return f"you guessed {_text(said)} {unit}"
    factor = said / got
    if said == got:
        off = "exactly that"
    elif abs(factor - 1) <= NEAR:
        off = f"within {max(1, math.ceil(100 * abs(factor - 1)))}%"
    else:
        off = f"{max(factor, 1 / factor):.2f} times too {'high' if factor > 1 else 'low'}"
    return f"you guessed {_text(said)} {unit}: {off}"


def _text(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _positive(value) -> bool:
    return _is_number(value) and math.isfinite(value) and value > 0
