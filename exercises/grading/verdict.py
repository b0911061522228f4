"""Is this output right? The judge of a check, or the default one, and the named wrong answers."""

from __future__ import annotations

import copy

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, within


def clone(case: dict) -> dict:
    """A deep copy: an answer may change its inputs, the judge needs the originals."""
    return copy.deepcopy(case)


def judge(exercise_id: str, case: dict, output) -> None:
    """Raise Wrong unless `output` is right for `case`."""
    check, exercise = spec.check_of(exercise_id), spec.get(exercise_id)
    if hasattr(check, "judge"):
        return check.judge(case, output)
    want = spec.drive(exercise_id, spec.reference(exercise_id), clone(case))
    if exercise.kind == "predict":
        return _judge_prediction(output, want, exercise.band)
    if exercise.kind == "choose":
        accepted = want if isinstance(want, (set, tuple, list, frozenset)) else (want,)
        if output not in exercise.choices:
            keys = ", ".join(exercise.choices)
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


def equals(exercise_id: str, cases: list[dict], outputs: list) -> str | None:
    """Name of the wrong answer whose outputs on these cases are the same; None if there is none.

    A wrong answer that raises on a case equals nothing.
    """
    for name, answer in spec.variants(exercise_id, "wrong").items():
        try:
            theirs = [spec.drive(exercise_id, answer, clone(case)) for case in cases]
            for got, want in zip(outputs, theirs, strict=True):
                compare(got, want, max(1e-6, TOLERANCES[spec.get(exercise_id).tolerance]))
        except Exception:  # a wrong answer may break in any way; then it is not this one
            continue
        return name
    return None
