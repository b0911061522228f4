"""Children for answers: forked from a server or freshly spawned, watched from outside.

One interface for both: `with Children() as children: ended = children.run(job, Limits())`.
Several threads may run jobs at the same time. Nothing a child does can hurt the parent.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from exercises.grading import wire
from exercises.grading.limits import Limits, end_tree, usage

REPOSITORY = Path(__file__).resolve().parents[2]
GRACE_S = 3.0  # for the last bytes of a child that has ended
IMPORTS_S = 30.0  # CPU seconds that a spawned child may spend on importing torch
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
        self._server: _Server | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            if self._server:
                self._server.close()
            self._server = None

    def run(self, job: dict, limits: Limits | None = None) -> Ended:
        """Run one job (see child.py) to its end, which may be ours to make."""
        limits = limits or Limits()
        folder = tempfile.mkdtemp(prefix="exercise-")
        nonce = secrets.token_bytes(16)
        job = job | {"folder": folder, "nonce": nonce, "limits": asdict(limits)}
        message = wire.encode(job)
        try:
            process = self._start()
            try:
                return _supervise(process, struct.pack("<Q", len(message)) + message, nonce, limits)
            finally:
                process.end()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _start(self):
        if self.kind == "spawn":
            return _Spawned()
        with self._lock:
            for _ in range(2):
                if self._server is None:
                    self._server = _Server()
                try:
                    return self._server.start()
                except OSError:  # the server is gone: a new one
                    self._server.close()
                    self._server = None
        raise RuntimeError("the fork server does not start: try MINILLM_CHILDREN=spawn")


class _Server:
    """The parent's side of server.py."""

    def __init__(self):
        from exercises.grading.server import START

        self.control, theirs = socket.socketpair()
        command = [sys.executable, "-c", START.format(root=str(REPOSITORY)), str(theirs.fileno())]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], start_new_session=True,
            env=_environment(),
        )  # fmt: skip
        theirs.close()

    def start(self) -> _Forked:
        job_read, job_write = os.pipe()
        result_read, result_write = os.pipe()
        prints_read, prints_write = os.pipe()
        watch, theirs = socket.socketpair()
        given = [job_read, result_write, prints_write, theirs.fileno()]
        try:
            socket.send_fds(self.control, [b"j"], given)
        except OSError:
            for fd in (job_write, result_read, prints_read):
                os.close(fd)
            watch.close()
            raise
        finally:
            for fd in given[:3]:
                os.close(fd)
            theirs.close()
        return _Forked(watch, job_write, result_read, prints_read)

    def close(self) -> None:
        self.control.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class _Forked:
    """A child of the fork server."""

    lead_s = 0.0

    def __init__(self, watch: socket.socket, job: int, result: int, prints: int):
        self.watch = watch
        self.job, self.result, self.prints = (
            os.fdopen(fd, mode, 0) for fd, mode in ((job, "wb"), (result, "rb"), (prints, "rb"))
        )
        self.pid: int | None = None

    def wait(self, timeout: float) -> tuple[bool, int | None]:
        """(ended?, exit code); the code is None if the server was lost."""
        from exercises.grading.server import REPORT, STARTED

        if not select.select([self.watch], [], [], timeout)[0]:
            return False, None
        try:
            report = self.watch.recv(REPORT.size, socket.MSG_WAITALL)
        except OSError:
            report = b""
        if len(report) < REPORT.size:
            return True, None
        word, number = REPORT.unpack(report)
        if word == STARTED:
            self.pid = number
            return False, None
        self.pid = None
        return True, number

    def end(self) -> None:
        if self.pid:
            end_tree(self.pid)  # also what left the group; the server ends the group
        self.watch.close()


class _Spawned:
    """A child with a Python of its own: works on every system."""

    lead_s = IMPORTS_S

    def __init__(self):
        from exercises.grading.child import SPAWN

        flags = {"start_new_session": True} if os.name == "posix" else {
            "creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-c", SPAWN.format(root=str(REPOSITORY))], env=_environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
            **flags,
        )  # fmt: skip
        self.pid = self.process.pid
        self.job, self.result, self.prints = (
            self.process.stdin, self.process.stdout, self.process.stderr,
        )  # fmt: skip

    def wait(self, timeout: float) -> tuple[bool, int | None]:
        try:
            return True, self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False, None

    def end(self) -> None:
        end_tree(self.pid)
        self.process.wait()


def _environment() -> dict[str, str]:
    one = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return os.environ | one | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}


class _Reader(threading.Thread):
    """Drains one stream of a child; `keep` bytes of its end stay (None: all, up to `limit`)."""

    def __init__(self, stream, limit: int, keep: int | None = None):
        super().__init__(daemon=True)
        self.stream, self.limit, self.keep = stream, limit, keep
        self.bytes, self.total = bytearray(), 0
        self.start()

    def run(self) -> None:
        try:
            while part := self.stream.read(2**20):
                self.total += len(part)
                if self.keep is not None:
                    self.bytes = (self.bytes + part)[-self.keep :]
                elif self.total <= self.limit:
                    self.bytes += part
        except (OSError, ValueError):
            pass

    @property
    def full(self) -> bool:
        return self.total > self.limit

    def finish(self) -> bytes:
        self.join(GRACE_S)
        if not self.is_alive():
            self.stream.close()
        return bytes(self.bytes)


def _supervise(process, message: bytes, nonce: bytes, limits: Limits) -> Ended:
    began = time.monotonic()
    result = _Reader(process.result, limits.result)
    prints = _Reader(process.prints, limits.printed, TAIL)
    ended = Ended()
    try:
        process.job.write(message)
        if not isinstance(process, _Spawned):
            process.job.close()  # a spawned child takes its end for ours
    except OSError:
        pass
    ended.how, ended.code = _wait(process, result, prints, limits, began)
    if ended.how != "exit":
        process.end()
    raw, text = result.finish(), prints.finish()
    try:
        process.job.close()
    except OSError:
        pass
    ended.frames, ended.noise = parse(raw, nonce)
    ended.printed = text.decode("utf-8", "replace").replace("\r\n", "\n")
    ended.seconds = time.monotonic() - began
    return ended


def _wait(process, result, prints, limits: Limits, began: float) -> tuple[str, int | None]:
    """Wait for the end, or for a reason to end it."""
    pause, looked = 0.002, began
    while True:
        over, code = process.wait(pause)
        if over:
            return ("lost", None) if code is None else ("exit", code)
        now = time.monotonic()
        pause = min(pause * 1.5, 0.05)
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


def parse(raw: bytes, nonce: bytes) -> tuple[list[tuple[str, object]], bool]:
    """(frames, whether there was anything else) of a result stream."""
    frames, at, noise = [], 0, False
    head = len(nonce) + 9
    while at < len(raw):
        if len(raw) - at < head or raw[at : at + len(nonce)] != nonce:
            return frames, True
        kind = chr(raw[at + len(nonce)])
        (size,) = struct.unpack_from("<Q", raw, at + len(nonce) + 1)
        if size > len(raw) - at - head:  # it was ended while it wrote
            return frames, noise
        try:
            frames.append((kind, wire.decode(raw[at + head : at + head + size])))
        except wire.WireError:
            return frames, True
        at += head + size
    return frames, noise
