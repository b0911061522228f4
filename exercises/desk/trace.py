"""`python -m exercises trace 4.2`: the first variable inside your function that differs from ours.

Variables are compared at the return, by name: that is why an exercise names its intermediates.
"""

from __future__ import annotations

from exercises.desk import shrink
from exercises.desk.explain import literal
from exercises.grading import spec, verdict, wire
from exercises.grading.frames import Recorder
from exercises.grading.judge import TOLERANCES, Wrong, compare, show


def trace(exercise_id: str) -> str:
    """Walks through our variables on the smallest failing input."""
    failing = shrink.find(exercise_id)
    if not failing.result.ran:
        return (
            f"{exercise_id}: your function does not come to its return, so its variables are not "
            f"known.\n{failing.why}"
        )
    yours, ours = failing.result.locals, reference_calls(exercise_id, failing.result.case)
    size = ", ".join(f"{k}={v}" for k, v in (failing.size or {}).items())
    head = f"{exercise_id} on the smallest input that fails" + (f" ({size})" if size else "")
    seen: list[str] = []
    for number, our_call in enumerate(ours):
        your_call = _same(yours, ours, number)
        if your_call is None:
            continue
        found = first_difference(exercise_id, your_call["locals"], our_call["locals"], seen)
        seen[:] = [name for name in seen if name not in failing.result.case]  # the inputs
        if found:
            name, wrong = found
            before = f"The same as ours: {', '.join(seen)}.\n" if seen else ""
            where = f"in {our_call['function']}(), call {number + 1}: " if len(ours) > 1 else ""
            return f"{head}\n{before}{where}the first that differs is {name}\n{_said(wrong)}"
    return f"{head}\n{_nothing(seen, yours, ours)}"


def reference_calls(exercise_id: str, case: dict) -> list[dict]:
    """Our answer's variables at each of its returns."""
    with Recorder(spec.reference(exercise_id)) as recorder:
        spec.drive(exercise_id, spec.reference(exercise_id), verdict.clone(case))
    return [{**call, "locals": wire.decode(call["locals"])} for call in recorder.calls]


def _same(yours: list[dict], ours: list[dict], number: int) -> dict | None:
    """The learner's call that stands where our call `number` stands among those of its name."""
    name = ours[number]["function"]
    place = sum(call["function"] == name for call in ours[:number])
    mine = [call for call in yours if call["function"] == name]
    return mine[place] if place < len(mine) else None


def first_difference(exercise_id: str, yours: dict, ours: dict, seen: list[str]):
    """(name, Wrong) of the first of our variables that differs; names that agree join `seen`."""
    tolerance = max(TOLERANCES[spec.get(exercise_id).tolerance], TOLERANCES["fp32"])
    for name, want in ours.items():
        if name not in yours:
            continue
        try:
            compare(yours[name], want, tolerance, name)
        except Wrong as wrong:
            if wrong.expected is None and wrong.got is None:
                wrong.expected, wrong.got = show(want), show(yours[name])
            short = shrink.numbers(want) <= 16 and shrink.numbers(yours[name]) <= 16
            return name, (wrong, literal(yours[name], 6), literal(want, 6)) if short else (
                wrong,
                "",
                "",
            )
        if name not in seen:
            seen.append(name)
    return None


def _said(found) -> str:
    wrong, yours, ours = found
    lines = [f"  {line}" for line in str(wrong).splitlines()]
    if yours:
        lines += [f"  yours: {yours}", f"  ours:  {ours}"]
    return "\n".join(lines)


def _nothing(seen: list[str], yours: list[dict], ours: list[dict]) -> str:
    names = lambda calls: list(dict.fromkeys(n for call in calls for n in call["locals"]))
    missing = [name for name in names(ours) if name not in names(yours)]
    parts = []
    if seen:
        parts.append(f"The same as ours: {', '.join(seen)}. What differs comes after them.")
    if missing:
        parts.append(f"Not found in yours: {', '.join(missing)}. Give your steps these names.")
    return "\n".join(parts) or "There is no variable to compare: yours and ours share no name."
