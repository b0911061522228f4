"""The smallest input on which an answer fails, found with one child."""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass

from exercises.desk import answers, progress
from exercises.grading import kernels, spec, verdict
from exercises.grading.judge import Wrong
from exercises.grading.limits import Limits

SMALLEST, SPREAD = 90, 30  # cases: the smallest ones, then some evenly between there and the end
SEARCH_S = 4.0  # for making and checking smaller inputs, in this process
RUN = Limits(cpu_s=10.0, wall_s=40.0)  # of the answer itself, on all of these together


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
    stopped: bool = False  # whether the search for smaller ones ran out of time


def find(exercise_id: str) -> Failing:
    """The smallest failing case of the learner's answer."""
    from exercises.desk.shorten import shorter
    from exercises.grading.runner import Children, run_answer

    exercise = spec.get(exercise_id)
    if exercise.kind in ("predict", "choose"):
        raise NothingToExplain(
            f"{exercise_id} is one answer, no function that takes inputs: take hint {exercise_id}"
        )
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
    sizes, stopped = (None, False) if own_cases else smaller(exercise_id, seed)
    with Children("spawn") as children:
        run = run_answer(
            exercise_id, None, seed, sizes=sizes, record_locals=True, stop=False,
            children=children, limits=RUN if exercise.kind != "kernel" else kernels.LIMITS,
        )  # fmt: skip
        failing = first(exercise_id, run, seed, sizes, stopped)
        return shorter(exercise_id, failing, children)


def smaller(exercise_id: str, seed: str) -> tuple[list[dict], bool]:
    """Sizes that our answer masters, the smallest first, then the exercise's own.

    The second value: whether the time was over before all were tried. The clock is read between
    two inputs and interrupts none: an exception out of nowhere inside `with torch.no_grad()`
    leaves a whole process without gradients. No input is larger than one that the grader makes.
    """
    exercise = spec.get(exercise_id)
    end = time.monotonic() + SEARCH_S
    found: list[dict] = []
    wanted = candidates(exercise.sizes)
    while wanted and len(found) < SMALLEST + SPREAD and time.monotonic() < end:
        step = len(wanted) // SPREAD if len(found) >= SMALLEST else 0
        size, wanted = wanted[step], wanted[step + 1 :]
        if size not in found and sound(exercise_id, seed, len(found), size):
            found.append(size)
    stopped = time.monotonic() > end
    return found + [size for size in exercise.sizes if size not in found], stopped


def candidates(sizes) -> list[dict]:
    """Every way to make the numbers and tuples of a size smaller, the smallest first."""
    found = []
    for size in sizes:
        keys = [k for k, v in size.items() if _whole(v) or _steps(v)]
        options = [_shorter(size[k]) if _steps(size[k]) else _fewer(size[k]) for k in keys]
        for values in itertools.islice(itertools.product(*options), 20_000):
            found.append({**size, **dict(zip(keys, values))})
    return sorted(found, key=_weight)


def _whole(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _steps(value) -> bool:
    """A tuple of numbers: how many tokens come at each step, for example."""
    return isinstance(value, tuple) and len(value) > 0 and all(map(_whole, value))


def _fewer(value: int) -> list[int]:
    return sorted({n for n in (1, 2, 3, 4, value // 2, value) if 0 < n <= value})


def _shorter(steps: tuple) -> list[tuple]:
    """Beginnings of the tuple, and as many ones."""
    lengths = {n for n in (1, 2, 3, len(steps) // 4, len(steps) // 2, len(steps)) if n > 0}
    lengths = {min(n, len(steps)) for n in lengths}
    found = [steps[:n] for n in lengths] + [(1,) * n for n in lengths]
    return sorted(set(found), key=lambda one: (sum(one), len(one)))


def _weight(size: dict) -> float:
    """How much there is to read: the logarithms of the numbers, and the length of tuples."""
    whole = sum(math.log(v) for v in size.values() if _whole(v))
    return whole + sum(math.log(sum(v)) + len(v) - 1 for v in size.values() if _steps(v))


def make(exercise_id: str, seed: str, number: int, size: dict) -> dict:
    """The inputs that the grader makes for place `number` of a list of sizes."""
    return spec.made(exercise_id, seed, number, size)


def sound(exercise_id: str, seed: str, number: int, size: dict) -> bool:
    """Whether this size is a question that has an answer: ours is right on it."""
    try:
        case = make(exercise_id, seed, number, size)
        output = spec.drive(exercise_id, spec.reference(exercise_id), verdict.clone(case))
        if spec.get(exercise_id).kind != "kernel":  # a twin launches none, and is right
            verdict.judge(exercise_id, case, output)
    except Exception:  # a size that make() or our answer does not know
        return False
    return True


def first(exercise_id: str, run, seed: str, sizes, stopped: bool = False) -> Failing:
    """The first failing case of a run (without sizes: the one with the fewest numbers).

    Of several faults the one that `check` meets, on the exercise's own sizes, in their order.
    """
    if run.failure and run.failure.get("case") is None:
        raise NothingToExplain(f"{exercise_id}: {run.failure['message']}")
    found = []
    for number, result in enumerate(run.cases):
        why = fault(exercise_id, result)
        if not why and run.failure and run.failure["case"] == number:
            why = run.failure["message"]
        if why:
            size = None if sizes is None else sizes[number]
            found.append(Failing(number, seed, size, result, why, len(run.cases), stopped))
    if not found:
        if any(kind_of(exercise_id, result).endswith(".unwritten") for result in run.cases):
            raise NothingToExplain(
                f"{exercise_id}: what is written is right; the rest is still to be written"
            )
        raise NothingToExplain(
            f"{exercise_id}: your answer is right on all {len(run.cases)} inputs, from the "
            f"smallest on. check {exercise_id} decides"
        )
    if not sizes:
        return min(found, key=lambda f: numbers(f.result.case))
    own = list(spec.get(exercise_id).sizes)
    checked = [f for f in found if f.size in own]
    if not checked or checked[0] is found[0]:  # the smallest come first
        return found[0]
    told = kind_of(exercise_id, min(checked, key=lambda f: own.index(f.size)).result)
    return next((f for f in found if kind_of(exercise_id, f.result) == told), found[0])


def kind_of(exercise_id: str, result) -> str:
    """The id of what the grader says to one case."""
    if result.failure or not result.ran:
        return result.failure["id"] if result.failure else "stopped"
    try:
        verdict.judge(exercise_id, verdict.clone(result.case), result.output)
    except Wrong as wrong:
        return wrong.id
    except Exception:  # see fault()
        return "form"
    return "changed-inputs"


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
        return "" if wrong.id.endswith(".unwritten") else str(wrong)
    except Exception as error:  # a form that the judge did not expect
        return f"the result has not the form that was asked for ({error})"
    return ""


def place_of(exercise_id: str, result) -> int | None:
    """Which entry of the output the judge complains about, where it says so."""
    try:
        verdict.judge(exercise_id, verdict.clone(result.case), result.output)
    except Wrong as wrong:
        return wrong.at
    except Exception:  # see fault()
        return None
    return None


def _at(traceback: str) -> str:
    return "\n" + traceback.splitlines()[-1] if traceback else ""


def numbers(value) -> int:
    """How many numbers there are in a value."""
    if hasattr(value, "numel"):
        return value.numel()
    if isinstance(value, dict):
        return sum(map(numbers, value.values()))
    return sum(map(numbers, value)) if isinstance(value, (list, tuple, set)) else 1
