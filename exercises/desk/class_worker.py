"""A process that grades answers one after another; the class survives whatever happens in it.

The parent may end it at any moment, with everything it started.
"""

from __future__ import annotations

import multiprocessing
import threading
import time

START_S = 120.0  # for a worker to begin: it imports torch, maybe on a busy machine
END_S = 20.0
LOOK_S = 0.2  # between looks at whether the class was stopped
LEFT = ("status", "message", "message_id", "equals", "equals_text", "seconds")


def work(pipe) -> None:
    """Runs in the worker: a job of Worker.grade in, a dict out, until None comes."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    from exercises.grading.runner import Children, grade

    with Children() as children:
        pipe.send("ready")
        while (job := pipe.recv()) is not None:
            exercise_id, path, student, seed, protect = job
            more = {"seed": seed, "student": student, "protect": protect}
            try:
                report = grade(exercise_id, path, children=children, **more)
                pipe.send({key: getattr(report, key) for key in LEFT})
            except Exception as error:  # a fault of ours must not cost the next learner
                pipe.send({"status": "grader error", "message": f"{type(error).__name__}: {error}"})


class Worker:
    """The parent's end: grade() with a limit; a worker that is late is ended and replaced."""

    def __init__(self):
        self.process = None

    def grade(self, job: tuple, limit_s: float, stop: threading.Event) -> dict | None:
        """The result; status "timeout" or "crashed" when the worker gave none; None: stopped.

        job: (exercise id, path, student, seed, protected folders). Call ready() before.
        """
        began = time.monotonic()
        try:
            self.pipe.send(job)
            while time.monotonic() - began < limit_s and not stop.is_set():
                if self.pipe.poll(LOOK_S):
                    return self.pipe.recv()
            if stop.is_set():
                return None
            said = {"status": "timeout", "message": "the time for this submission was used up"}
        except (EOFError, OSError):
            said = {"status": "crashed", "message": "the grading process ended"}
        self.end()
        return {**said, "seconds": time.monotonic() - began}

    def ready(self) -> None:
        """Start the process if there is none."""
        if self.process is not None:
            return
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs,), daemon=False)
        self.process.start()
        theirs.close()
        if not self.pipe.poll(START_S) or self.pipe.recv() != "ready":
            self.end()
            raise RuntimeError("a grading process did not start")

    def close(self) -> None:
        """Let the worker finish by itself."""
        if self.process is not None:
            try:
                self.pipe.send(None)
                self.process.join(END_S)
            except (OSError, ValueError):
                pass
            self.end()

    def end(self) -> None:
        """End the worker and everything it started."""
        from exercises.grading.limits import end_tree

        if self.process is not None:
            if self.process.is_alive():
                end_tree(self.process.pid)
                self.process.kill()
            self.process.join(END_S)
            self.pipe.close()
            self.process = None
