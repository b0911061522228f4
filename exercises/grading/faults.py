"""In the child: what went wrong with an answer, as plain data for the parent."""

from __future__ import annotations

import linecache

from exercises.grading import wire
from exercises.grading.tripwire import Forbidden


class Stop(Exception):
    """No further cases."""


class Unsendable(Exception):
    """The grader cannot turn a value into bytes: its fault, not the answer's."""


def sendable(value) -> bytes:
    """wire.encode, whose own faults are told from the answer's."""
    try:
        return wire.encode(value)
    except wire.WireError:
        raise
    except Exception as error:
        raise Unsendable(f"{type(error).__name__}: {str(error)[:500]}") from None


def failure(status: str, message_id: str, message: str, traceback: str = "") -> dict:
    return {
        "status": status, "id": message_id, "message": message, "traceback": traceback,
        "case": None,
    }  # fmt: skip


def describe(error: BaseException, path: str, when: str | None) -> dict:
    """What went wrong, in words; only the answer's own lines of the traceback."""
    while type(error).__name__ == "InterpreterError" and error.__cause__ is not None:
        error = error.__cause__  # Triton's interpreter wraps what a kernel raises
    text = wire.visible(str(error)[:2000])
    lines = answer_lines(error, path)
    named = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, Forbidden):
        return failure("forbidden", "forbidden", text, lines)
    if isinstance(error, SyntaxError) and error.filename == path and when:
        where = f"line {error.lineno}: {(error.text or '').strip()}"
        return failure("syntax", "syntax", f"{error.msg} in {where}", "")
    if isinstance(error, NotImplementedError):
        return failure("not started", "not-implemented", text, lines)
    if isinstance(error, SystemExit):
        return failure("crashed", "exit", f"your code ended the process ({named})", lines)
    if isinstance(error, MemoryError) or "can't allocate memory" in text:
        return failure("memory", "memory", named, lines)
    if isinstance(error, RecursionError):
        return failure("error", "recursion", "your function calls itself without an end", lines)
    if isinstance(error, wire.WireError):
        return failure("output", "output", f"your result cannot be sent: {text}", lines)
    if isinstance(error, Unsendable):
        text = f"the grader could not read your result ({text}): a fault of the course, not yours"
        return failure("error", "grader", text)
    if not lines and not when:
        return failure("error", "drive", named)
    return failure("error", "exception", named, lines)


def answer_lines(error: BaseException, path: str) -> str:
    """The answer's frames of a traceback, innermost last; at most the last 8."""
    found, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == path:
            line = linecache.getline(path, trace.tb_lineno).strip()
            found.append(f"line {trace.tb_lineno}, in {code.co_name}: {line}")
        trace = trace.tb_next
    return "\n".join(found[-8:])
