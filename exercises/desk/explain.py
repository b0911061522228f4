"""`python -m exercises explain 4.2`: the smallest failing input, and a cell that shows it again."""

from __future__ import annotations

from exercises.desk import answers, progress, shrink
from exercises.grading import spec, verdict
from exercises.grading.judge import TOLERANCES, Wrong, compare, show

FEW = 64  # numbers of one value that are written out
FEW_IN_LISTS = 32  # where they stand in many small tensors
FEW_IN_DICTS = 8  # where they have names: all in one line
READ = 5  # digits of what is only read


def explain(exercise_id: str) -> str:
    """All that there is to say about the smallest failure."""
    failing = shrink.find(exercise_id)
    case, result = failing.result.case, failing.result
    tried = f"of {failing.tried} that were tried"
    if failing.stopped:
        tried += f" (the search stopped after {shrink.SEARCH_S:.0f} s)"
    parts = [f"{exercise_id}: the smallest failing input{sizes(failing)}, {tried}"]
    if answers.state(exercise_id, progress.load()) == "solved":
        parts.append(f"check {exercise_id} says right: it counts. check does not try this input")
    parts.append("input\n" + given(exercise_id, case, failing.result))
    parts.append("what is wrong\n" + indent(failing.why))
    expected = spec.drive(exercise_id, spec.reference(exercise_id), verdict.clone(case))
    got = result.output
    if spec.get(exercise_id).kind == "kernel":  # the rest is what the grader saw
        expected, got = expected["out"], got and got["out"]
    if spec.get(exercise_id).kind == "slow" and result.ran and _counted(result.output):
        parts.append(f"yours counts {_counts(result.output)}, ours {_counts(expected)}")
    elif hasattr(spec.check_of(exercise_id), "told") and result.ran:
        parts.append("yours\n" + indent(spec.check_of(exercise_id).told(case, got)))
    else:
        where, expected, got = the_place(exercise_id, failing, expected, got)
        parts.append(f"expected{where}\n" + indent(expected))
        if result.ran:
            parts.append(f"got{where}\n" + indent(got))
    parts.append(_how_to_paste(exercise_id))
    return "\n\n".join(parts) + "\n\n" + cell(exercise_id, failing)


def given(exercise_id: str, case: dict, result) -> str:
    """The inputs; of a list of calls each one in a line, up to the one that fails."""
    check, shown = spec.check_of(exercise_id), dict(case)
    if not hasattr(check, "steps"):
        return block({name: short(value) for name, value in shown.items()})
    del shown[check.LIST]
    texts = check.steps(case)[: (shrink.place_of(exercise_id, result) or 0) + 1 or None]
    lines = [block({name: short(value) for name, value in shown.items()})]
    return "\n".join(lines + [f"  call {n}: {text}" for n, text in enumerate(texts, 1)])


def the_place(exercise_id: str, failing, expected, got) -> tuple[str, str, str]:
    """Of long lists the entry that differs -> ("" or where it is, ours, yours)."""
    check = spec.check_of(exercise_id)
    if hasattr(check, "steps"):
        place = shrink.place_of(exercise_id, failing.result)
        if place is None:  # it raised
            return "", "a result for each call", ""
        text = check.steps(failing.result.case)[place].partition(" = ")[2]
        text, labels = text or check.steps(failing.result.case)[place], check.LABELS
        told = lambda one: "\n".join(f"{label or text}: {short(part, READ)}"
                                     for label, part in zip(labels, one))  # fmt: skip
        names = " (block numbers may differ)"
        return f" after call {place + 1}{names}", told(expected[place]), told(got[place])
    where = ""
    while (place := first_part(expected, got)) is not None:
        where += f"[{place!r}]"
        expected, got = expected[place], got[place]
    named = f", of the result{where}: the first entry that differs" * bool(where)
    return named, short(expected, READ), short(got, READ)


def first_part(expected, got):
    """Index or key of the first part that differs; None: to be shown whole."""
    if _is_tensor(expected) and _is_tensor(got):  # of a matrix a row
        alike = expected.dim() > 1 and expected.numel() > FEW_IN_LISTS
        alike = alike and expected.shape == got.shape
        places = range(len(expected)) if alike else ()
    elif isinstance(expected, dict) and isinstance(got, dict):
        places, long = list(expected), shrink.numbers(expected) > FEW_IN_DICTS
        alike = long and set(expected) == set(got)
    else:
        lists = isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple))
        alike = lists and shrink.numbers(expected) > FEW_IN_LISTS and len(expected) == len(got)
        places = range(len(expected)) if alike else ()
    if not alike:
        return None
    return next((place for place in places if differ(expected[place], got[place])), None)


def differ(one, other) -> bool:
    """Whether two values are not the same but for rounding."""
    try:
        compare(other, one, TOLERANCES["fp32"], floor=verdict.NOISE)
    except Wrong:
        return True
    return False


def _counted(output) -> bool:
    return isinstance(output, dict) and isinstance(output.get("counts"), dict)


def _counts(output: dict) -> str:
    """Each count with its name; a list of counts is one for each call."""
    several = lambda count: count if isinstance(count, (list, tuple)) else [count]
    told = lambda count: " + ".join(f"{n:,}" for n in several(count))
    return ", ".join(f"{told(count)} {name}" for name, count in output["counts"].items())


def _how_to_paste(exercise_id: str) -> str:
    text = "paste this into a cell, and print inside your function what you want to see"
    check = spec.check_of(exercise_id)
    if hasattr(check, "HOW"):
        return f"{check.HOW}\n\n{text}"
    if hasattr(check, "drive") and not hasattr(check, "calls"):
        place = answers.shown(spec.file_of(exercise_id, "check"))
        text += (
            f"\n({', '.join(spec.cases(exercise_id, 'x')[0])}: what the check makes its calls of "
            f"{check.EXERCISE.entry} from. How: drive() in {place})"
        )
    return text


def cell(exercise_id: str, failing: shrink.Failing) -> str:
    """Python that runs the learner's answer on this input."""
    case, check = failing.result.case, spec.check_of(exercise_id)
    plain = not hasattr(check, "drive")
    mine, head = f"my_answer({exercise_id!r})", ["from exercises.notebook import my_answer", ""]
    most = FEW if plain or hasattr(check, "steps") else FEW_IN_LISTS
    few = shrink.numbers(case) <= most and all(map(_writable, case.values()))
    if spec.get(exercise_id).kind == "kernel":  # strides would be lost, and the guard zones
        few = plain = False
    torch = ["import torch"] if "torch." in str([literal(v) for v in case.values()]) else []
    if hasattr(check, "calls") and few:
        return "\n".join(head + check.calls(case, mine))
    drive = [f"print(spec.drive({exercise_id!r}, {mine}, case))"]
    if plain and few:
        made = [f"{name} = {literal(value)}" for name, value in case.items()]
        call = ", ".join(f"{name}={name}" for name in case)
        return "\n".join([*torch, *head, *made, f"print({mine}({call}))"])
    lines = ["from exercises.grading import spec", *head]
    if few:
        made = [f"    {name!r}: {literal(value)}," for name, value in case.items()]
        lines = [*torch, *lines, "case = {", *made, "}"]
    elif failing.size is None:
        lines += [f"case = spec.cases({exercise_id!r}, {failing.seed!r})[{failing.number}]"]
    else:
        place = f"{exercise_id!r}, {failing.seed!r}, {failing.number}"
        lines = ["from exercises.desk.shrink import make", *lines]
        lines += [f"case = make({place}, {failing.size})"]
    return "\n".join(lines + drive)


def sizes(failing: shrink.Failing) -> str:
    """The sizes in brackets, long tuples by their beginning, of a list of calls how many."""
    brief = lambda v: f"{v[:3]}... ({len(v)})" if isinstance(v, tuple) and len(v) > 6 else v
    case, named = failing.result.case, []
    for name, size in (failing.size or {}).items():
        made = case.get(name)
        if isinstance(size, int) and isinstance(made, (list, tuple)):
            named.append(f"{len(made)} {name}")
        elif name != "keep":
            named.append(f"{name}={brief(size)}")
    return f" ({', '.join(named)})" if named else ""


def short(value, digits: int | None = None) -> str:
    """literal() of what is short as a whole; of a long list how long it is, and its beginning."""
    if shrink.numbers(value) <= FEW_IN_LISTS or _is_tensor(value):
        return literal(value, digits)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {short(v, digits)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)) and value:
        return f"{len(value)} of these, the first: {short(value[0], digits)}"
    return literal(value, digits)


def literal(value, digits: int | None = None) -> str:
    """A value as Python would write it, if it is short; else its kind and shape.

    digits: of each number; None: as many as tell a float from its neighbours.
    """
    if _is_tensor(value):
        if value.numel() > FEW:
            return show(value)
        kind = str(value.dtype)
        named = "" if kind in ("torch.float32", "torch.int64", "torch.bool") else f", dtype={kind}"
        return f"torch.tensor({_numbers(value, digits)}{named})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {literal(v, digits)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)) and len(value) <= FEW:
        inside = ", ".join(literal(v, digits) for v in value)
        comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{comma})"
    return repr(value) if len(repr(value)) < 400 else show(value)


def _numbers(tensor, digits: int | None) -> str:
    """Nested lists; 9 digits tell every float32 from its neighbours, 17 every float64."""
    if not tensor.is_floating_point():
        return repr(tensor.tolist())
    digits = digits or (17 if str(tensor.dtype) == "torch.float64" else 9)

    def text(value):
        if isinstance(value, list):
            return "[" + ", ".join(map(text, value)) + "]"
        short = f"{value:.{digits}g}"
        if short in ("nan", "inf", "-inf"):
            return f"float({short!r})"
        return short if any(c in short for c in ".e") else short + "."

    return text(tensor.tolist())


def _writable(value) -> bool:
    """Whether literal() of it makes the value again."""
    if isinstance(value, dict):
        return all(map(_writable, value.values()))
    if isinstance(value, (list, tuple)):
        return len(value) <= FEW and all(map(_writable, value))
    plain = isinstance(value, (int, float, str, bool, type(None)))
    return (
        _is_tensor(value) or plain and len(repr(value)) < 400 and repr(value) not in ("inf", "nan")
    )


def _is_tensor(value) -> bool:
    return hasattr(value, "numel") and hasattr(value, "dtype")


def block(values: dict[str, str]) -> str:
    return "\n".join(f"  {name} = {text}" for name, text in values.items())


def indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
