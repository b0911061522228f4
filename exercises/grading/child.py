"""The child: runs one answer on the cases of its exercise and sends back what came out.

It judges nothing and never sees the reference. Job on standard input, frames on a private copy
of standard output; what the answer prints goes where standard error goes.
"""

from __future__ import annotations

import linecache
import os
import random
import struct
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path

from exercises.grading import frames, kernel_language, kernels, spec, wire
from exercises.grading.faults import Stop, describe, failure, sendable
from exercises.grading.limits import Limits, apply
from exercises.grading.tripwire import Tripwire, protected_folders

_exit, _write, _read = os._exit, os.write, os.read  # bound before an answer can replace them
SPAWN = "import sys; sys.path.insert(0, {root!r}); from exercises.grading.child import main; main()"


def main(watch_parent: bool = True) -> None:
    """Run the job of standard input; never returns."""
    try:
        job = wire.decode(_read_exactly(0, struct.unpack("<Q", _read_exactly(0, 8))[0]))
        result = os.dup(1)
        os.set_inheritable(result, False)
        os.dup2(2, 1)
        parent = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)  # input() finds an empty file
        os.close(nothing)
        if watch_parent:
            threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
        fresh = {"encoding": "utf-8", "errors": "backslashreplace", "buffering": 1}
        sys.stdout, sys.stderr = (open(fd, "w", closefd=False, **fresh) for fd in (1, 2))
        sys.dont_write_bytecode = True
        os.chdir(job["folder"])
        Run(job, Sender(result, job["nonce"])).run()
    except BaseException as error:
        _write(2, f"grader: {type(error).__name__}: {error}\n".encode())
        _exit(70)
    finally:
        _exit(0)


def _read_exactly(fd: int, count: int) -> bytes:
    parts = []
    while count:
        part = _read(fd, min(count, 2**20))
        if not part:
            raise EOFError("the job ends early")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _end_with_parent(parent: int) -> None:
    """The parent holds the other end of standard input: its end is the end of the job."""
    while _read(parent, 4096):
        pass
    _exit(3)


class Sender:
    """Writes frames: nonce, kind, length, bytes. The nonce tells them from an answer's noise."""

    def __init__(self, fd: int, nonce: bytes):
        self.fd, self.nonce = fd, nonce

    def __call__(self, kind: str, value) -> None:
        payload = wire.encode(value)
        message = self.nonce + kind.encode() + struct.pack("<Q", len(payload)) + payload
        view = memoryview(message)
        while view:
            view = view[_write(self.fd, view) :]


class Run:
    """One job: the cases of an exercise, one answer."""

    def __init__(self, job: dict, send: Sender):
        self.job, self.send = job, send
        self.reuse = Reuse()
        self.at: int | None = None  # the case that is running

    def run(self) -> None:
        try:
            cases = self.prepare()
        except BaseException as error:
            self.send("G", f"{type(error).__name__}: {error}")
            return
        began = time.perf_counter()
        try:
            answer = self.load()
            for self.at, case in enumerate(cases):
                self.case(answer, case)
        except Stop:
            pass
        self.flush()
        self.send("D", {"tried": self.trip.tried, "seconds": time.perf_counter() - began})

    def prepare(self) -> list[dict]:
        """Everything of ours, before anything of the answer's."""
        job = self.job
        spec.ROOT = Path(job["root"])
        if job["torch"]:
            import torch

            torch.set_num_threads(1)
            torch.manual_seed(0)
        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        self.exercise = spec.get(job["exercise"])
        self.drive = lambda answer, case: spec.drive(job["exercise"], answer, case)
        if self.exercise.kind == "kernel":
            kernels.interpreter()
        cases = spec.cases(job["exercise"], job["seed"], job["sizes"])
        protected = (*protected_folders(spec.ROOT), *job["protect"])
        self.watch = self.watch_for(self.exercise.forbid)
        self.trip = Tripwire(
            job["path"], job["folder"], protected, self.exercise.uses, self.exercise.forbid
        )
        self.trip.arm()
        apply(Limits(**job["limits"]))
        return cases

    def watch_for(self, forbid: tuple[str, ...]):
        kernel = self.exercise.kind == "kernel"
        if not (forbid or kernel) or not self.job["torch"]:
            return None
        from exercises.grading.counting import Watch

        forbid, only = (kernels.NOT_TORCH, kernels.ROOM) if kernel else (forbid, ())
        watch = Watch(forbid, lambda what: self.trip.refuse(what), only)
        watch.threads()
        return watch

    def load(self) -> Callable:
        """The answer's entry; its file runs as the module `answer`."""
        path, source, entry = self.job["path"], self.job["source"], self.job["entry"]
        linecache.cache[path] = (len(source), None, source.splitlines(True), path)
        module = types.ModuleType("answer")
        module.__file__ = path
        sys.modules["answer"] = module
        try:
            code = compile(source, path, "exec", dont_inherit=True)
            if self.exercise.kind == "kernel":
                kernel_language.check(source, path, self.trip.refuse)
            exec(code, vars(module))
        except BaseException as error:
            self.failed(error, "while the file was loaded")
            raise Stop from None
        self.send("S", None)
        if entry not in vars(module):
            self.send("F", failure("error", "entry-missing", entry))
            raise Stop
        answer = vars(module)[entry]
        if self.exercise.kind not in ("predict", "choose") and not callable(answer):
            self.send("F", failure("error", "entry-not-callable", wire.type_name(answer)))
            raise Stop
        return answer

    def case(self, answer, case: dict) -> None:
        """Run one case; its output, and the inputs as they are afterwards."""
        case = self.reuse(case)
        kernel = self.exercise.kind == "kernel"  # its variables are the interpreter's
        recorder = frames.Recorder(answer) if self.job["locals"] and not kernel else None
        watch = self.watch
        if kernel:  # watched is only the answer: drive copies tensors
            answer, watch = watch.around(answer), None
        began = time.perf_counter()
        try:
            if watch:
                watch.__enter__()
            try:
                if recorder:
                    with recorder:
                        output = self.drive(answer, dict(case))
                else:
                    output = self.drive(answer, dict(case))
            finally:
                if watch:
                    watch.__exit__(None, None, None)
            seconds = time.perf_counter() - began
            parts = {"output": sendable(output), "inputs": sendable(case)}
            result = {"case": self.at, **parts}
        except BaseException as error:
            self.failed(error, None)
            if self.job["stop"]:
                raise Stop from None
            return
        result |= {"seconds": seconds, "locals": recorder.calls if recorder else []}
        result["faults"] = recorder.faults if recorder else []
        self.flush()
        self.send("C", result)

    def failed(self, error: BaseException, when: str | None) -> None:
        self.flush()
        try:
            self.send("F", describe(error, self.job["path"], when) | {"case": self.at})
        except BaseException:  # an error that fights back while it is described
            self.send("F", failure("error", "exception", type(error).__name__) | {"case": self.at})

    def flush(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:  # closed or replaced by the answer
                pass


class Reuse:
    """Cases of equal shape get the same tensor objects with new numbers.

    An answer that remembers results by the identity of its inputs is found out by this.
    """

    def __init__(self):
        self.seen: dict = {}

    def __call__(self, value, place: tuple = ()):
        torch = sys.modules.get("torch")
        kind = type(value)
        if kind is dict:
            return {k: self(v, (*place, str(k))) for k, v in value.items()}
        if kind in (list, tuple):
            return kind(self(v, (*place, i)) for i, v in enumerate(value))
        if torch and kind is torch.Tensor and not value.requires_grad and value.numel():
            return self._tensor(torch, value, place)
        return value

    def _tensor(self, torch, value, place):
        facts = lambda t: (t.dtype, t.shape, t.stride(), t.device, t.layout, t.requires_grad)
        key = (place, *facts(value)[:3])
        old = self.seen.setdefault(key, value)
        if old is value:
            return value
        if facts(old) != facts(value) or 0 in value.stride():
            return value
        return old.copy_(value)
