"""The smallest input on which an answer fails, found with one child."""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import dataclass

from exercises.desk import answers, progress
from exercises.grading import spec, verdict
from exercises.grading.judge import Wrong

MOST_CASES = 120
SEARCH_S = 3.0  # for making and checking smaller inputs, in this process


class NothingToExplain(ValueError):
    """The answer cannot be run, or does not fail; the message says what to do."""


@dataclass(frozen=True)
class Failing:
    """One failing case."""

    number: int  # of the run: the random numbers come from it
    seed: str
    size: dict | None  # None: the check makes its own cases, this is number `number`
    result: object  # exercises.grading.runner.CaseResult
    why: str
    tried: int  # cases that ran


def find(exercise_id: str) -> Failing:
    """The smallest failing case of the learner's answer."""
    from exercises.grading.runner import Children, run_answer

    exercise = spec.get(exercise_id)
    if exercise.kind in ("predict", "choose"):
        raise NothingToExplain(f"{exercise_id} has one answer and no input: hint {exercise_id}")
    text = answers.read(exercise_id)
    runs_fresh = exercise.kind in ("hunt", "slow", "break")
    if (
        text is None
        or not runs_fresh
        and answers.is_fresh(exercise_id, text.decode(errors="replace"))
    ):
        raise NothingToExplain(f"{exercise_id} is not started: there is nothing to explain yet")
    seed = progress.load()["exercises"].get(exercise_id, {}).get("seed", "explain")
    own_cases = hasattr(spec.check_of(exercise_id), "cases")
    sizes = None if own_cases else smaller(exercise_id, seed)
    with Children("spawn") as children:
        run = run_answer(
            exercise_id, None, seed, sizes=sizes, record_locals=True, stop=False, children=children
        )
    return _first(exercise_id, run, seed, sizes)


def smaller(exercise_id: str, seed: str) -> list[dict]:
    """Sizes from the smallest to the exercise's own, those that our answer masters."""
    exercise, end = spec.get(exercise_id), time.monotonic() + SEARCH_S
    found, wanted = [], _candidates(exercise.sizes)
    for size in wanted:
        if len(found) >= MOST_CASES or time.monotonic() > end:
            break
        if _sound(exercise_id, seed, len(found), size):
            found.append(size)
    for size in exercise.sizes:
        if size not in found and _sound(exercise_id, seed, len(found), size):
            found.append(size)
    return found


def _candidates(sizes) -> list[dict]:
    """Every way to make the whole numbers of a size smaller, the smallest first."""
    whole = lambda v: isinstance(v, int) and not isinstance(v, bool) and v > 0
    found = []
    for size in sizes:
        keys = [k for k, v in size.items() if whole(v)]
        steps = [
            sorted({n for n in (1, 2, 3, size[k] // 2, size[k]) if 0 < n <= size[k]}) for k in keys
        ]
        for values in itertools.islice(itertools.product(*steps), 5000):
            one = {**size, **dict(zip(keys, values))}
            if one not in found:
                found.append(one)
    return sorted(found, key=lambda one: sum(v for v in one.values() if whole(v)))


def make(exercise_id: str, seed: str, number: int, size: dict) -> dict:
    """The inputs that the grader makes for place `number` of a list of sizes."""
    rng = random.Random(f"{exercise_id}/{seed}/{number}")
    return spec.check_of(exercise_id).make(rng, **size)


def _sound(exercise_id: str, seed: str, number: int, size: dict) -> bool:
    """Whether this size is a question that has an answer: ours is right on it."""
    try:
        case = make(exercise_id, seed, number, size)
        output = spec.drive(exercise_id, spec.reference(exercise_id), verdict.clone(case))
        verdict.judge(exercise_id, case, output)
    except Exception:  # a size that make() or our answer does not know
        return False
    return True


def _first(exercise_id: str, run, seed: str, sizes) -> Failing:
    """The first failing case of a run (without sizes: the one with the fewest numbers)."""
    if run.failure and run.failure.get("case") is None:
        raise NothingToExplain(f"{exercise_id}: {run.failure['message']}")
    found = []
    for number, result in enumerate(run.cases):
        why = fault(exercise_id, result)
        if not why and run.failure and run.failure["case"] == number:
            why = run.failure["message"]
        if why:
            size = None if sizes is None else sizes[number]
            found.append(Failing(number, seed, size, result, why, len(run.cases)))
    if not found:
        raise NothingToExplain(
            f"{exercise_id}: no failure on {len(run.cases)} inputs, from the smallest on. "
            f"check {exercise_id} decides"
        )
    return found[0] if sizes else min(found, key=lambda f: numbers(f.result.case))


def fault(exercise_id: str, result) -> str:
    """What is wrong with one case, "" if nothing is."""
    if result.failure:
        return result.failure["message"] + _at(result.failure.get("traceback", ""))
    if not result.ran:
        return ""
    changed = verdict.changed(result.case, result.inputs, spec.get(exercise_id).edits)
    if changed:
        return f"it changes its input {', '.join(changed)}"
    try:
        verdict.judge(exercise_id, verdict.clone(result.case), result.output)
    except Wrong as wrong:
        return str(wrong)
    except Exception as error:  # a form that the judge did not expect
        return f"the result has not the form that was asked for ({error})"
    return ""


def _at(traceback: str) -> str:
    return "\n" + traceback.splitlines()[-1] if traceback else ""


def numbers(value) -> int:
    """How many numbers there are in a value."""
    if hasattr(value, "numel"):
        return value.numel()
    if isinstance(value, dict):
        return sum(map(numbers, value.values()))
    return sum(map(numbers, value)) if isinstance(value, (list, tuple, set)) else 1
