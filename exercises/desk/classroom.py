"""`python -m exercises grade FOLDER`: a class, one sub-folder of answers a learner.

Every result goes to a journal at once, so that a run that was killed goes on where it stopped.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import queue
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from exercises.desk import answers
from exercises.desk.class_worker import Worker
from exercises.desk.submissions import Submission
from exercises.grading import spec


@dataclass(frozen=True)
class Result:
    """One exercise of one learner."""

    student: str
    exercise: str
    status: str  # a status of the grader's Report, "missing" or "grader error"
    message: str = ""
    message_id: str = ""
    equals: str | None = None  # name of the wrong answer that it equals
    equals_text: str = ""
    seconds: float = 0.0
    key: str = ""  # of what was graded: see key_of

    @property
    def ok(self) -> bool:
        return self.status == "right"


@functools.cache
def check_sha(exercise_id: str) -> str:
    """Changes when the grader of this exercise does."""
    kinds = [spec.file_of(exercise_id, kind) for kind in ("check", "reference", "wrong")]
    return hashlib.sha256(b"".join(p.read_bytes() for p in kinds)).hexdigest()


def key_of(student: str, exercise_id: str, text: bytes | None, seed: str) -> str:
    """What a result depends on; a result with this key need not be made again."""
    parts = [student, exercise_id, seed, check_sha(exercise_id)]
    parts.append("missing" if text is None else hashlib.sha256(text).hexdigest())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


class Journal:
    """Results, one JSON line each, on the disk before the next one is begun."""

    def __init__(self, path: Path, resume: bool):
        self.path, self.known, self.lock = path, {}, threading.Lock()
        if path.exists() and not resume:
            os.replace(path, path.with_name(path.name + ".before"))
        if path.exists():
            self.known = {r.key: r for r in read_journal(path)}
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(path, "ab")
        if self.file.tell():
            self.file.write(b"\n")  # ends a line that a kill cut short

    def add(self, result: Result) -> None:
        line = json.dumps(vars(result)).encode()
        with self.lock:
            self.file.write(line + b"\n")
            self.file.flush()
            os.fsync(self.file.fileno())


def read_journal(path: Path) -> list[Result]:
    """The complete lines of a journal; a torn one is not there."""
    found = []
    for line in path.read_bytes().splitlines():
        with contextlib.suppress(ValueError, TypeError):
            found.append(Result(**json.loads(line)))
    return found


@dataclass(frozen=True)
class Plan:
    """How a class is graded."""

    ids: list[str]
    jobs: int = 1
    seed: str = "class"  # the same random inputs for everybody, and again on resuming
    limit_s: float = 300.0  # for all answers of one submission together
    protect: tuple[str, ...] = ()  # folders that no answer may read: those of the others


def grade(people: list[Submission], plan: Plan, journal: Journal, tick=lambda: None):
    """Grade everything -> results in the order of people and exercises. `tick` after each one."""
    results: dict[tuple[str, str], Result] = {}
    waiting: queue.SimpleQueue = queue.SimpleQueue()
    for one in people:
        waiting.put(one)
    stop, faults = threading.Event(), []
    with tempfile.TemporaryDirectory(prefix="grade-") as place:

        def serve():
            worker = Worker()
            try:
                while not stop.is_set():
                    _submission(waiting.get_nowait(), plan, journal, worker, Path(place), add, stop)
            except queue.Empty:
                worker.close()
            except BaseException as error:
                faults.append(error)
            finally:
                worker.end()

        def add(result, new):
            results[result.student, result.exercise] = result
            if new:
                journal.add(result)
            tick()

        threads = [threading.Thread(target=serve, daemon=True) for _ in range(max(1, plan.jobs))]
        _run(threads, stop)
    if faults:
        raise faults[0]
    return [results[one.student, i] for one in people for i in plan.ids]


def _run(threads, stop) -> None:
    """Start and wait; Ctrl-C ends the workers first."""
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads):
            threads[0].join(0.1) if threads[0].is_alive() else time.sleep(0.1)
    except BaseException:
        stop.set()
        for thread in threads:
            thread.join(30)
        raise


def _submission(one, plan, journal, worker, place, add, stop) -> None:
    """All exercises of one learner, within one limit of time."""
    left = plan.limit_s
    for exercise_id in plan.ids:
        if stop.is_set():
            return
        text = one.answers.get(exercise_id)
        key = key_of(one.student, exercise_id, text, plan.seed)
        if key in journal.known:
            add(journal.known[key], new=False)
            continue
        if text is None:
            said = {"status": "missing", "message": "no file was handed in"}
        elif left <= 0:
            said = {"status": "timeout", "message": "the time for this submission was used up"}
        else:
            worker.ready()
            began = time.monotonic()
            file, hidden = _file(place, exercise_id, text), (*plan.protect, str(place))
            job = (exercise_id, str(file), one.student, plan.seed, hidden)
            said = worker.grade(job, left, stop)
            left -= time.monotonic() - began
            if said is None:
                return
        add(Result(student=one.student, exercise=exercise_id, key=key, **said), new=True)


def _file(place: Path, exercise_id: str, text: bytes) -> Path:
    """The answer in a folder of its own, under our name."""
    path = Path(tempfile.mkdtemp(dir=place)) / answers.path_of(exercise_id).name
    path.write_bytes(text)
    return path
