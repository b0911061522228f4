"""Leaves calls out of a failing list of calls, as long as it still fails."""

from __future__ import annotations

import time
from dataclasses import replace

from exercises.desk import shrink
from exercises.grading import spec

SEARCH_S = 6.0  # for all rounds together; each one runs the answer on all its lists at once
AT_ONCE = 150  # lists in one round


def shorter(exercise_id: str, failing: shrink.Failing, children) -> shrink.Failing:
    """The same failure with as few calls as were found; `failing` where the check cannot do it."""
    check = spec.check_of(exercise_id)
    stuck = not failing.result.ran and not failing.result.failure
    if not hasattr(check, "shorten") or failing.size is None or stuck:
        return failing
    keep, end = tuple(range(len(failing.result.case[check.LIST]))), time.monotonic() + SEARCH_S
    tries, began = [keep[:n] for n in range(1, len(keep))], False  # at first: where does it end?
    while time.monotonic() < end:
        found = _first_failing(exercise_id, failing, tries, children)
        if found is None and began:
            break
        if found is not None:
            failing, keep = found, found.size["keep"][1]
        tries, began = _without(keep), True
    return failing


def _without(keep: tuple) -> list[tuple]:
    """The list without one stretch of its calls, the shortest lists first."""
    ends = [(i, j) for i in range(len(keep)) for j in range(i + 1, len(keep) + 1)]
    found = {keep[:i] + keep[j:] for i, j in ends}
    return sorted((one for one in found if one), key=lambda one: (len(one), one))


def _first_failing(exercise_id: str, failing: shrink.Failing, tries: list[tuple], children):
    """The first (shortest) of these lists on which the answer fails; None if there is none."""
    from exercises.grading.runner import run_answer

    sizes = []
    for keep in tries:
        size = {**failing.size, "keep": (failing.number, keep)}
        if len(sizes) < AT_ONCE and shrink.sound(exercise_id, failing.seed, failing.number, size):
            sizes.append(size)
    if not sizes:
        return None
    run = run_answer(
        exercise_id, None, failing.seed, sizes=sizes, record_locals=True, stop=False,
        children=children, limits=shrink.RUN,
    )  # fmt: skip
    try:
        found = shrink.first(exercise_id, run, failing.seed, sizes)
    except shrink.NothingToExplain:
        return None
    tried = failing.tried + found.tried
    return replace(found, number=failing.number, tried=tried, stopped=failing.stopped)
