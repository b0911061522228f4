"""The fork server: loads torch once, then every job gets a fresh copy of it in about 0.01 s.

It never runs an answer itself: its children do. Each job comes with four file descriptors (job,
result, prints, watch). On `watch` it tells the child's id and later how it ended; when its other
end closes, because the parent is done or dead, the child's whole process group is ended.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import struct
import sys

from exercises.grading.limits import end_group

STARTED, ENDED = b"s", b"e"
REPORT = struct.Struct("<cq")
START = (
    "import sys; sys.path.insert(0, {root!r}); from exercises.grading.server import main; "
    "main(int(sys.argv[1]))"
)


def main(control_fd: int) -> None:
    """Serve jobs until the parent closes its end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    preload()
    Server(socket.socket(fileno=control_fd)).serve()


def preload() -> None:
    """Import what every child needs: nothing of an exercise, nothing of a learner's."""
    import gc

    import numpy  # noqa: F401
    import torch

    from exercises.grading import child, counting, judge  # noqa: F401

    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()  # pages that the collector does not touch stay shared


class Server:
    def __init__(self, control: socket.socket):
        self.control = control
        self.jobs: dict[int, socket.socket] = {}  # process id -> watch
        self.choose = selectors.DefaultSelector()
        self.choose.register(control, selectors.EVENT_READ)
        wake, self.wake_write = os.pipe()
        os.set_blocking(self.wake_write, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        self.wake = wake
        self.choose.register(wake, selectors.EVENT_READ)

    def serve(self) -> None:
        while True:
            for key, _ in self.choose.select(timeout=1.0):
                if key.fileobj is self.control:
                    if not self.take():
                        return self.stop()
                elif key.fileobj == self.wake:
                    os.read(self.wake, 4096)
                else:  # a watch: its other end is closed
                    self.choose.unregister(key.fileobj)
                    self.end(key.data)
            self.reap()

    def take(self) -> bool:
        """One job from the parent; False when the parent has closed."""
        try:
            word, fds, _, _ = socket.recv_fds(self.control, 1, 4)
        except ConnectionError:
            return False
        if not word:
            return False
        pid = os.fork()
        if pid == 0:
            run_child(fds)
        watch = socket.socket(fileno=fds[3])
        for fd in fds[:3]:
            os.close(fd)
        self.jobs[pid] = watch
        self.choose.register(watch, selectors.EVENT_READ, pid)
        self.tell(watch, STARTED, pid)
        return True

    @staticmethod
    def tell(watch: socket.socket, word: bytes, number: int) -> None:
        try:
            watch.sendall(REPORT.pack(word, number))
        except OSError:  # the parent does not listen any more
            pass

    @staticmethod
    def end(pid: int) -> None:
        end_group(pid)
        try:
            os.kill(pid, signal.SIGKILL)  # if it had no time to make its own group
        except OSError:
            pass

    def reap(self) -> None:
        """Take leave of children that ended: first of their groups, while the id is theirs."""
        while self.jobs:
            info = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if info is None:
                return
            end_group(info.si_pid)
            _, status = os.waitpid(info.si_pid, 0)
            watch = self.jobs.pop(info.si_pid)
            self.tell(watch, ENDED, os.waitstatus_to_exitcode(status))
            try:
                self.choose.unregister(watch)
            except KeyError:
                pass
            watch.close()

    def stop(self) -> None:
        for pid in self.jobs:
            self.end(pid)


def run_child(fds: list[int]) -> None:
    """In the forked child: only the job's own descriptors stay open. Never returns."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        job, result, prints, _ = fds
        high = [os.dup(fd) for fd in (job, result, prints)]  # 0, 1, 2 may be among them
        for place, fd in enumerate(high):
            os.dup2(fd, place)
        os.closerange(3, max(high) + 64)
        from exercises.grading.child import main

        main(watch_parent=False)
    except BaseException as error:
        print(f"grader: {type(error).__name__}: {error}", file=sys.stderr)
    finally:
        os._exit(70)
