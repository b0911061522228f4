"""What the grader says: for every way an answer can end, plain words and a stable id."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from exercises.grading import spec
from exercises.grading.judge import Wrong, show

GIB = 2**30
CALLED = re.compile(r"unexpected keyword argument|missing \d+ required|takes .*argument")
UNREAD = ("syntax", "file", "file-missing", "entry-missing", "entry-not-callable")
UNCALLED = "the check could not call your code"
KINDS = {"generator": "yield", "coroutine": "async def", "async_generator": "async def and yield"}


def found(status: str, message_id: str, message: str, **more) -> dict:
    """Fields of a Report."""
    return {"status": status, "message_id": message_id, "message": message, **more}


def next_help(exercise: spec.Exercise) -> str:
    can = not spec.no_trace(exercise.id)
    return (
        f"Next: python -m exercises explain {exercise.id} (the smallest input that fails), "
        + f"then trace {exercise.id}, " * can
        + f"then hint {exercise.id}"
    )


def right(exercise: spec.Exercise, answers) -> dict:
    check = spec.check_of(exercise.id)
    if exercise.kind == "predict":
        return found("right", "right", "your prediction is near what the formula gives")
    text = f"right in all {len(answers.cases)} cases"
    if exercise.kind == "choose":
        text = "that is it"
    if hasattr(check, "remark"):
        of = [(result.case, result.output) for result in answers.cases]
        text += "; " + check.remark(*zip(*of))
    return found("right", "right", text)


def not_started(exercise: spec.Exercise) -> dict:
    what = {
        "predict": "the answer is still None: write your answer",
        "choose": f"the answer is still None: write {_of(exercise.choices)}",
    }.get(exercise.kind, f"{exercise.entry} is not written yet")
    return found("not started", "untouched", what)


def _of(choices: dict) -> str:
    """Where nothing is listed, the question says what the answer looks like."""
    return f"one of {', '.join(choices)}" if choices else "your answer"


def cannot_run(exercise: spec.Exercise) -> dict:
    text = f"{exercise.id} needs Triton, which this machine does not have (there is none for macOS "
    text += "and Windows). It does not count here. Colab and Linux machines have it"
    return found("cannot run here", "no-triton", text)


def of_case(answers, number: int) -> str:
    """In which case: its sizes help to see which kind of input fails."""
    shapes = []
    for name, value in answers.cases[number].case.items():
        if hasattr(value, "shape"):
            shapes.append(f"{name} {list(value.shape)}")
        elif isinstance(value, list):
            shapes.append(f"{name}: {_of_list(value)}")
        elif type(value) in (int, float, bool, str) and name != "seed":
            shapes.append(f"{name} {show(value, 40)}")
    inputs = f" ({', '.join(shapes[:6])})" if shapes else ""
    return f"case {number + 1} of {len(answers.cases)}{inputs}"


def _of_list(value: list) -> str:
    """A few whole numbers as they are; else how many entries: [7] would look like a value."""
    if len(value) <= 4 and all(type(v) is int for v in value):
        return str(value)
    return "1 entry" if len(value) == 1 else f"{len(value)} entries"


def wrong(exercise, fault: Wrong, answers, number: int, equals: str | None) -> dict:
    where = "" if exercise.kind in ("predict", "choose") else of_case(answers, number) + ": "
    lines = [where + str(fault)]
    text = None
    if equals == "fresh":
        text = "the code you were given"
        lines.append("Yours still does what the code you were given does.")
    elif equals:
        document = spec.variants(exercise.id, "wrong")[equals].__doc__ or equals
        text = document.strip().split("\n")[0].rstrip(".")
        lines.append(f"Yours does this: {text}.")
    if exercise.kind in ("predict", "choose"):
        lines.append(f"Next: python -m exercises hint {exercise.id}")
    else:
        lines.append(next_help(exercise))
    return found(
        "wrong", fault.id, "\n".join(lines), case=number, index=fault.index, equals=equals,
        equals_text=text,
    )  # fmt: skip


def not_plain(exercise, kind: str, number: int) -> dict:
    why = KINDS.get(kind)
    text = f"your result holds a {kind}"
    if why:
        text += f": {exercise.entry} was written with {why}, write it as a plain function"
    else:
        text += ": return plain tensors, numbers, texts, lists or dicts of exactly those types"
    return found("output", "not-plain", text, case=number, got=kind)


def changed(exercise, names: list[str], number: int) -> dict:
    text = (
        f"your code changes its input {', '.join(names)}: whoever calls it still needs it. "
        "Look for operations in place (x += y, x.mul_(y), x[i] = y, list.append) and work on a "
        "copy or a new tensor"
    )
    return found("changed inputs", "changed-inputs", text, case=number)


def failed(exercise, failure: dict, answers, path: Path) -> dict:
    """Exceptions, refusals, limits."""
    number, text = failure["case"], failure["message"]
    words = {
        "entry-missing": f"{path.name} has no {exercise.entry}: keep the name that was given",
        "entry-not-callable": f"{exercise.entry} must be a function or class, yours is a {text}",
        "not-implemented": text or f"{exercise.entry} is not written yet",
        "forbidden": f"refused: {text}",
        "syntax": f"Python cannot read {path.name}: {text}",
        "drive": f"the check could not use what your code returned ({text}): look at the "
        "arguments and the result that are asked for",
    }
    called = failure["id"] == "drive" and CALLED.search(text)  # Python's words for such calls
    text = words.get(failure["id"], text)
    if called:
        text = f"{UNCALLED} ({failure['message']}): keep the arguments of "
        text += "the exercise, with the names it gives them"
    where = ""
    if number is not None and failure["id"] in ("exception", "drive", "recursion", "memory"):
        where = of_case(answers, number) + ": "
    lines = [where + text]
    if failure["traceback"]:
        lines.append(failure["traceback"].split("\n")[-1])
    return found(
        failure["status"], failure["id"], "\n".join(lines), case=number,
        traceback=failure["traceback"],
    )  # fmt: skip


def never_ran(report) -> bool:
    """Whether the answer was not run at all: no input shows more, and it is no try."""
    return report.message_id in UNREAD or UNCALLED in (report.message or "").partition("\n")[0]


def ending(ended, done: dict | None, answers, limits) -> dict | None:
    """The failure that the end of the process itself shows; None if it ended as it should."""
    number = next((i for i, r in enumerate(answers.cases) if not r.ran and not r.failure), None)
    loaded = any(kind == "S" for kind, _ in ended.frames)
    place = f" in {of_case(answers, number)}" if loaded and number is not None else ""

    def failure(status: str, message_id: str, message: str) -> dict:
        return {
            "status": status, "id": message_id, "message": message, "traceback": "",
            "case": number if loaded else None,
        }  # fmt: skip

    if ended.noise:
        return failure("forbidden", "noise", "it wrote to the grader's own channel")
    if done and done["tried"]:
        return failure("forbidden", "forbidden", done["tried"][0])
    if ended.how == "timeout" or (ended.code or 0) == -getattr(signal, "SIGXCPU", 1000):
        text = f"stopped after {limits.cpu_s:.0f} s of work{place}: a loop without end, or too slow"
        return failure("timeout", "timeout", text)
    if ended.how == "waited":
        text = f"stopped after {limits.wall_s:.0f} s{place}: it waits for something"
        return failure("timeout", "waited", text)
    if ended.how == "memory":
        text = f"stopped{place}: it took more than {limits.memory / GIB:.0f} GiB"
        return failure("memory", "memory", text)
    if ended.how in ("printed", "result"):
        return failure("output", ended.how, f"stopped{place}: it wrote without an end")
    if ended.how == "lost":
        return failure("crashed", "lost", f"the process was ended from outside{place}")
    if done:
        return None
    code = ended.code
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return failure("crashed", "crashed", f"your code ended the process ({how}){place}")
