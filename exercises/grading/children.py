"""Children for answers: forked from a server or freshly spawned, watched from outside.

One interface for both: `with Children() as children: ended = children.run(job, Limits())`.
Several threads may run jobs at the same time. Nothing a child does can hurt the parent.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field

from exercises.grading import wire
from exercises.grading.limits import Limits, usage
from exercises.grading.processes import Forked, Server, Spawned
from exercises.grading.streams import Reader, parse

SERVER_S = 120.0  # a fork server needs this at most to start
TAIL = 64 * 1024  # bytes of prints that are kept
CAN_FORK = sys.platform == "linux" and hasattr(socket, "send_fds")


@dataclass
class Ended:
    """How a child ended, and what it sent before."""

    how: str = "exit"  # exit | timeout | waited | memory | printed | result | lost
    code: int | None = None  # exit code; negative: the signal
    frames: list[tuple[str, object]] = field(default_factory=list)  # (kind, value), see child.py
    noise: bool = False  # bytes between the frames: the answer wrote to the result's channel
    printed: str = ""
    seconds: float = 0.0


class Children:
    """Starts children; kind "fork" (Linux: 0.01 s each), "spawn" (everywhere), "auto"."""

    def __init__(self, kind: str = "auto"):
        if kind == "auto":
            kind = os.environ.get("MINILLM_CHILDREN") or ("fork" if CAN_FORK else "spawn")
        if kind not in ("fork", "spawn"):
            raise ValueError(f"children: fork, spawn or auto, not {kind!r}")
        if kind == "fork" and not CAN_FORK:
            raise ValueError('children="fork" works on Linux only: take "spawn"')
        self.kind = kind
        self.known: dict = {}  # exercise -> (its inputs, {wrong kernel: its outputs on them})
        self._server: Server | None = None
        self._live: set = set()
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def close(self) -> None:
        """End everything that still runs; no job starts after this."""
        with self._lock:
            self._closed = True
            live, server, self._server = list(self._live), self._server, None
        for process in live:
            process.end()
        if server:
            server.close()

    def run(self, job: dict, limits: Limits | None = None) -> Ended:
        """Run one job (see child.py) to its end, which may be ours to make."""
        with self.begin(job, limits) as running:
            return running.result()

    def begin(self, job: dict, limits: Limits | None = None) -> Running:
        """Start a job: `with children.begin(job) as running: ...; running.result()`."""
        limits = limits or Limits()
        folder = tempfile.mkdtemp(prefix="exercise-")
        nonce = secrets.token_bytes(16)
        job = job | {"folder": folder, "nonce": nonce, "limits": asdict(limits)}
        message = wire.encode(job)
        try:
            process = self._start()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return Running(self, process, struct.pack("<Q", len(message)) + message, job, limits)

    def ended(self, process) -> None:
        """For Running: this child is gone."""
        self._live.discard(process)

    def _start(self):
        with self._lock:
            if self._closed:
                raise RuntimeError("these children are closed: no job starts any more")
            process = Spawned() if self.kind == "spawn" else self._fork()
            self._live.add(process)
            return process

    def _fork(self) -> Forked:
        for _ in range(2):
            if self._server is None:
                self._server = Server()
            try:
                return self._server.start()
            except OSError:  # the server is gone: a new one
                self._server.close()
                self._server = None
        raise RuntimeError("the fork server does not start: try MINILLM_CHILDREN=spawn")


class Running:
    """One job under way; leaving the `with` ends it, whatever it does."""

    def __init__(self, children: Children, process, message: bytes, job: dict, limits: Limits):
        self.children, self.process, self.job, self.limits = children, process, job, limits
        self.began = time.monotonic()
        self.frames = Reader(process.result, limits.result)
        self.prints = Reader(process.prints, limits.printed, TAIL)
        _give(process, message)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *error) -> None:
        self.process.end()
        self.process.release()
        self.children.ended(self.process)
        shutil.rmtree(self.job["folder"], ignore_errors=True)

    def result(self) -> Ended:
        """Wait for its end."""
        ended = Ended()
        ended.how, ended.code = _wait(self.process, self.frames, self.prints, self.limits)
        if ended.how != "exit":
            self.process.end()
        raw, text = self.frames.finish(), self.prints.finish()
        try:
            self.process.job.close()
        except OSError:
            pass
        ended.frames, ended.noise = parse(raw, self.job["nonce"])
        ended.printed = text.decode("utf-8", "replace").replace("\r\n", "\n")
        ended.seconds = time.monotonic() - self.began
        return ended


def _give(process, message: bytes) -> None:
    """Write the job. A spawned child takes the end of this stream for our end: it stays open."""
    view = memoryview(message)
    try:
        while view:
            view = view[process.job.write(view) :]
        if not isinstance(process, Spawned):
            process.job.close()
    except OSError:  # it is gone already: _wait says how
        pass


def _wait(process, result, prints, limits: Limits) -> tuple[str, int | None]:
    """Wait for the end, or for a reason to end it."""
    first = began = looked = time.monotonic()
    pause = 0.002
    while True:
        over, code = process.wait(pause)
        if over:
            return ("lost", None) if code is None else ("exit", code)
        now = time.monotonic()
        pause = min(pause * 1.5, 0.05)
        if process.pid is None and now - first < SERVER_S:
            began = now  # the fork server is still importing torch
        if now - began > limits.wall_s + process.lead_s:
            return "waited", None
        if prints.full or result.full:
            return ("printed" if prints.full else "result"), None
        if process.pid and now - looked > 0.1:
            looked = now
            cpu, memory = usage(process.pid) or (0.0, 0)
            if cpu > limits.cpu_s + process.lead_s:
                return "timeout", None
            if memory > limits.memory + 2**30:
                return "memory", None
