"""`python -m exercises explain 4.2`: the smallest failing input, and a cell that shows it again."""

from __future__ import annotations

from exercises.desk import shrink
from exercises.grading import spec, verdict
from exercises.grading.judge import show

FEW = 64  # numbers that are written out
READ = 5  # digits of what is only read


def explain(exercise_id: str) -> str:
    """All that there is to say about the smallest failure."""
    failing = shrink.find(exercise_id)
    case = failing.result.case
    tried = f"of {failing.tried} that were tried"
    parts = [f"{exercise_id}: the smallest failing input{_size(failing)}, {tried}"]
    parts.append("input\n" + block({name: literal(value) for name, value in case.items()}))
    parts.append("what is wrong\n" + indent(failing.why))
    expected = spec.drive(exercise_id, spec.reference(exercise_id), verdict.clone(case))
    parts.append("expected\n" + indent(literal(expected, READ)))
    if failing.result.ran:
        parts.append("got\n" + indent(literal(failing.result.output, READ)))
    parts.append("paste this into a cell, and print inside your function what you want to see\n")
    return "\n\n".join(parts) + "\n" + cell(exercise_id, failing)


def cell(exercise_id: str, failing: shrink.Failing) -> str:
    """Python that runs the learner's answer on this input."""
    case, plain = failing.result.case, not hasattr(spec.check_of(exercise_id), "drive")
    head = ["from exercises.notebook import my_answer", ""]
    if plain and shrink.numbers(case) <= FEW and all(map(_writable, case.values())):
        torch = ["import torch"] if "torch." in str([literal(v) for v in case.values()]) else []
        made = [f"{name} = {literal(value)}" for name, value in case.items()]
        call = ", ".join(f"{name}={name}" for name in case)
        lines = torch + head + made + [f"print(my_answer({exercise_id!r})({call}))"]
    elif failing.size is None:
        lines = ["from exercises.grading import spec", *head]
        lines += [f"case = spec.cases({exercise_id!r}, {failing.seed!r})[{failing.number}]"]
        lines += [f"print(spec.drive({exercise_id!r}, my_answer({exercise_id!r}), case))"]
    else:
        lines = [
            "from exercises.desk.shrink import make",
            "from exercises.grading import spec",
            *head,
        ]
        place = f"{exercise_id!r}, {failing.seed!r}, {failing.number}"
        lines += [f"case = make({place}, {failing.size})"]
        lines += [f"print(spec.drive({exercise_id!r}, my_answer({exercise_id!r}), case))"]
    return "\n".join(lines)


def _size(failing: shrink.Failing) -> str:
    sizes = failing.size or {}
    return f" ({', '.join(f'{k}={v}' for k, v in sizes.items())})" if sizes else ""


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
