"""`python -m exercises trace 4.2`: the first variable inside your function that differs from ours.

Variables are compared at the return, by name: only those that the exercise's text names.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

from exercises.desk import answers, progress, shrink
from exercises.desk.explain import literal, short, sizes
from exercises.grading import spec, verdict, wire
from exercises.grading.frames import Recorder
from exercises.grading.judge import TOLERANCES, Wrong, compare, show


def trace(exercise_id: str) -> str:
    """Walks through our variables on the smallest failing input."""
    kind, text = spec.get(exercise_id).kind, answers.read(exercise_id) or b""
    if kind == "hunt" and answers.is_fresh(exercise_id, text.decode("utf-8", "replace")):
        raise ValueError(
            f"trace would name the line at once: {exercise_id} is a hunt, so first change what you "
            "suspect"
        )
    cannot = spec.no_trace(exercise_id)
    if cannot:
        return f"{exercise_id}: {cannot}"
    failing = shrink.find(exercise_id)
    if not failing.result.ran:
        return (
            f"{exercise_id}: your function does not come to its return, so its variables are not "
            f"known.\n{failing.why}"
        )
    yours, ours = failing.result.locals, reference_calls(exercise_id, failing.result.case)
    names = stated(spec.fresh_text(exercise_id, progress.asker(exercise_id)))
    head = f"{exercise_id} on the smallest input that fails{sizes(failing)}"
    if failing.result.faults:
        which = ", ".join(dict.fromkeys(failing.result.faults))
        head += f"\ntrace could not record {which}: a fault of the course, not of your answer"
    if not ours:  # a value that is no function of ours
        return f"{head}\n{_nothing([], yours, ours, names)}"
    seen: list[str] = []
    for number, our_call in enumerate(ours):
        your_call = _same(yours, ours, number)
        if your_call is None:
            continue
        mine, want = your_call["locals"], our_call["locals"]
        place = _call(ours, number)
        found = first_difference(exercise_id, mine, want, seen, names)
        if found:
            before = f"The same as ours: {', '.join(seen)}.\n" if seen else ""
            where = f"in {place}: " * (len(ours) > 1)
            name, wrong = found
            return f"{head}\n{before}{where}the first that differs is {name}\n{_said(wrong)}"
        if len(ours) > 1 and first_difference(exercise_id, mine, want, [], {"return"}):
            returned = [short(call.get("return"), 6) for call in (mine, want)]
            return f"{head}\n{place} returned {returned[0]}\nours returned {returned[1]}"
    return f"{head}\n{_nothing(seen, yours, ours, names)}"


def stated(text: str) -> set[str]:
    """Names of intermediates that an exercise's text gives: its words, not its parameters.

    In docstrings and comments: what looks like a name (scores_HTL), stands in backticks, or in a
    sentence that speaks of names. In the code that was given: every variable.
    """
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    prose = [ast.get_docstring(n) or "" for n in nodes if isinstance(n, _DOCUMENTED)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    prose = "\n\n".join(prose + [t.string for t in tokens if t.type == tokenize.COMMENT])
    found = set(re.findall(r"`(\w+)`", prose))
    found |= {word for word in re.findall(r"\w+", prose) if re.search(r"[_A-Z\d]", word)}
    for sentence in re.split(r"[.;]\s|\n\n", prose):
        if re.search(r"(?i)\bnames? |\bcall\b|`trace`", sentence):
            found |= set(re.findall(r"\w+", sentence))
    found |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return found - {n.arg for n in nodes if isinstance(n, ast.arg)}


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


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


def _call(ours: list[dict], number: int) -> str:
    """ "call 3 of write(request='a', position=1)": counted among the calls of that name."""
    name, variables = ours[number]["function"], ours[number]["locals"]
    count = sum(call["function"] == name for call in ours[: number + 1])
    plain = [key for key in ours[number]["arguments"] if isinstance(variables[key], (int, str))]
    return f"call {count} of {name}({', '.join(f'{key}={variables[key]!r}' for key in plain)})"


def first_difference(exercise_id: str, yours: dict, ours: dict, seen: list[str], names: set[str]):
    """(name, Wrong) of the first of our `names` that differs; names that agree join `seen`."""
    tolerance = max(TOLERANCES[spec.get(exercise_id).tolerance], TOLERANCES["fp32"])
    junk = getattr(spec.check_of(exercise_id), "UNTRACED", ())
    for name, want in ours.items():
        if name not in yours or name not in names or name in junk or _holds_nan(want):
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


def _holds_nan(want) -> bool:
    """What is NaN in ours is not looked at later on: nothing to aim at."""
    return hasattr(want, "isnan") and bool(want.isnan().any())


def _said(found) -> str:
    wrong, yours, ours = found
    lines = [f"  {line}" for line in str(wrong).splitlines()]
    if yours:
        lines += [f"  yours: {yours}", f"  ours:  {ours}"]
    return "\n".join(lines)


def _nothing(seen: list[str], yours: list[dict], ours: list[dict], names: set[str]) -> str:
    every = lambda calls: list(dict.fromkeys(n for call in calls for n in call["locals"]))
    missing = [name for name in every(ours) if name in names and name not in every(yours)]
    parts = []
    if seen:
        parts.append(f"The same as ours: {', '.join(seen)}. What differs comes after them.")
    if missing:
        parts.append(f"Not found in yours: {', '.join(missing)}. Give your steps these names.")
    return "\n".join(parts) or (
        "The exercise names no steps that trace could compare here: explain and hint know more."
    )
