"""The parent's handle on a child: forked by a server of ours, or a Python of its own."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
from pathlib import Path

from exercises.grading.limits import end_group, end_tree

REPOSITORY = Path(__file__).resolve().parents[2]
IMPORTS_S = 30.0  # CPU seconds that a spawned child may spend on importing torch


class Server:
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

    def start(self) -> Forked:
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
        return Forked(watch, job_write, result_read, prints_read)

    def close(self) -> None:
        self.control.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Forked:
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
            self.pid = None
        try:
            self.watch.shutdown(socket.SHUT_RDWR)  # the server ends the child at this
        except OSError:
            pass

    def release(self) -> None:
        self.watch.close()


class Spawned:
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
        if self.process.poll() is None:
            end_tree(self.pid)
            self.process.wait()
        elif hasattr(os, "killpg"):
            end_group(self.pid)  # what it started and left behind

    def release(self) -> None:
        pass


def _environment() -> dict[str, str]:
    one = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return os.environ | one | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
