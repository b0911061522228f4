"""Records the local variables of an answer at its return, for `python -m exercises trace`."""

from __future__ import annotations

import inspect
import sys
from types import CodeType

from exercises.grading import wire

MAX_CALLS = 32
MAX_BYTES = 2**22  # of one variable: larger ones are left out


def codes_of(answer) -> set[CodeType]:
    """The code of a function, or of every method of a class; decorators are looked through."""
    if inspect.isclass(answer):
        values = [getattr(v, "__func__", v) for v in vars(answer).values()]
        return {c for v in values if callable(v) for c in codes_of(v) if not inspect.isclass(v)}
    code = getattr(inspect.unwrap(answer), "__code__", None)
    return {code} if code else set()


class Recorder:
    """With this entered, every call of the answer is recorded: its name and its variables.

    `calls` is a list of {"function": name, "arguments": names, "locals": bytes}, in the order of
    the returns; the bytes are a message (wire) of a dict, made at the return: later changes do not
    show. What is returned stands in it as "return", which no variable can be called.
    """

    def __init__(self, answer):
        self.codes = codes_of(answer)
        self.calls: list[dict] = []
        self.faults: list[str] = []  # of the recorder itself: never the answer's

    def __enter__(self):
        sys.setprofile(self._event)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)

    def _event(self, frame, event: str, value) -> None:
        if event != "return" or frame.f_code not in self.codes or len(self.calls) >= MAX_CALLS:
            return
        sys.setprofile(None)
        try:
            kept = {}
            for name, local in {**frame.f_locals, "return": value}.items():
                if name != "self" and not name.startswith("."):
                    self._keep(kept, name, local)
            code = frame.f_code
            given = [n for n in code.co_varnames[: code.co_argcount] if n in kept]
            call = {"function": code.co_name, "arguments": given, "locals": wire.encode(kept)}
            self.calls.append(call)
        finally:
            sys.setprofile(self._event)

    def _keep(self, kept: dict, name: str, local) -> None:
        try:
            message = wire.encode(local)
            if len(message) <= MAX_BYTES:
                kept[name] = wire.decode(message)
        except wire.WireError:  # nested too deeply: left out
            pass
        except Exception as error:  # raised into the answer, it would look like its own
            self.faults.append(f"{name} ({type(error).__name__}: {str(error)[:200]})")
