"""Is this output right? The judge of a check, or the default one, and the named wrong answers."""

from __future__ import annotations

import copy

from exercises.grading import kernels, spec, wire
from exercises.grading.judge import TOLERANCES, Wrong, compare, within

NOISE = 1e-12  # absolute; only for naming a mistake, never for judging an answer


def clone(case: dict) -> dict:
    """A deep copy: an answer may change its inputs, the judge needs the originals."""
    return copy.deepcopy(case)


def judge(exercise_id: str, case: dict, output) -> None:
    """Raise Wrong unless `output` is right for `case`."""
    check, exercise = spec.check_of(exercise_id), spec.get(exercise_id)
    if hasattr(check, "judge"):
        return check.judge(case, output)
    want = plain(spec.drive(exercise_id, spec.reference(exercise_id), clone(case)))
    if exercise.kind == "kernel":
        least = getattr(check, "least_programs", lambda _case: 1)(case)
        return kernels.judge(output, want, exercise.tolerance, least)
    if exercise.kind == "predict":
        return _judge_prediction(output, want, exercise.band)
    if exercise.kind == "choose":
        accepted = want if isinstance(want, (set, tuple, list, frozenset)) else (want,)
        if type(output) is int and str(output) in exercise.choices:
            output = str(output)  # 32 for "32": what was meant is plain
        if not isinstance(output, str) or output not in exercise.choices:
            keys = ", ".join(f'"{key}"' for key in exercise.choices)
            raise Wrong("choice", f"the answer must be one of {keys}", got=output)
        if output not in accepted:
            raise Wrong("choice", f"not {output}: {exercise.choices[output]}")
        return None
    return compare(output, want, TOLERANCES[exercise.tolerance])


def _judge_prediction(got, want, band: float) -> None:
    if isinstance(want, dict):
        if not isinstance(got, dict) or set(got) != set(want):
            raise Wrong("keys", f"the answer must be a dict with the keys {sorted(want)}", got=got)
        for key in want:
            within(got[key], want[key], band, f"answer[{key!r}]")
    elif isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(got) != len(want):
            raise Wrong("length", f"the answer must be a list of {len(want)} numbers", got=got)
        for place, value in enumerate(want):
            within(got[place], value, band, f"answer[{place}]")
    else:
        within(got, want, band)


def plain(value):
    """`value` as it would come out of a child."""
    return wire.decode(wire.encode(value))


def not_plain(value) -> str | None:
    """The type of the first part that is not plain data; None if all of it is."""
    if isinstance(value, wire.Other):
        return value.type
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set)):
        return next((t for t in map(not_plain, value) if t), None)
    return None


def changed(case: dict, after: dict, edits: tuple[str, ...] = ()) -> list[str]:
    """Names of the inputs that are not what they were."""
    before = plain(case)
    return [name for name in before if name not in edits and not same(before[name], after[name])]


def same(one, two) -> bool:
    """Equal to the last bit, NaN included."""
    return wire.encode(one) == wire.encode(two)


def equals(
    exercise_id: str, cases: list[dict], outputs: list, student: str = "", run=None
) -> str | None:
    """Name of the wrong answer whose outputs on these cases are the same; None if there is none.

    "fresh": a hunt's or a slow exercise's own text. A wrong answer that raises on a case equals
    nothing. Differences below NOISE do not count: where 0 is meant, two runs leave other dust.
    run(name) -> the outputs of a wrong answer that runs in a child only (kernels).
    """
    if spec.get(exercise_id).kind == "kernel":
        return _equal_kernel(exercise_id, outputs, run)
    tolerance = max(1e-6, TOLERANCES[spec.get(exercise_id).tolerance])
    for name, answer in suspects(exercise_id, student).items():
        try:
            for case, got in zip(cases, outputs, strict=True):
                compare(
                    got, plain(spec.drive(exercise_id, answer, clone(case))), tolerance, floor=NOISE
                )
        except Exception:  # a wrong answer may break in any way; then it is not this one
            continue
        return name
    return None


def _equal_kernel(exercise_id: str, outputs: list, run) -> str | None:
    tolerance = spec.get(exercise_id).tolerance
    for name in spec.variants(exercise_id, "wrong") if run else ():
        theirs = run(name)
        if len(theirs) >= len(outputs) and all(
            kernels.alike(mine, other, tolerance) for mine, other in zip(outputs, theirs)
        ):
            return name
    return None


def suspects(exercise_id: str, student: str) -> dict:
    """The named wrong answers; where code was given (hunt, slow, break), also that code."""
    found = spec.variants(exercise_id, "wrong")
    exercise = spec.get(exercise_id)
    if exercise.kind in ("hunt", "slow", "break"):
        module = spec.load_module(spec.fresh_path(exercise_id, student))
        found = {"fresh": getattr(module, exercise.entry), **found}
    return found
