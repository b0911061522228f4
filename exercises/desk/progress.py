"""What a learner has done so far, kept so that nothing is lost: the folder exercises/.progress/.

progress.json holds one entry an exercise; backups/ holds every text that was ever overwritten.
Another place: the environment variable MINILLM_PROGRESS.
"""

from __future__ import annotations

import contextlib
import copy
import errno
import hashlib
import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from exercises.desk import files
from exercises.grading import messages, spec
from minillm.repository import progress_folder

ENTRY = {  # what every entry has; further keys: see below
    "solved": False,
    "parked": False,
    "seen": False,  # the solution was shown
    "attempts": 0,  # graded with a new text that could run, up to the first right one
    "failed": 0,  # of these, in a row, not right
    "hints": 0,  # shown
    "tried": [],  # the last few messages, oldest first
}
# Further keys: seed, sha, right (their sha), unwritten (sha of a text without an answer), guess,
# measured; of personal questions also student (with whose numbers it was begun) and askers (the
# same of kept texts, by the mark in their names).
KEPT_MESSAGES = 8
VERSION = 1


def folder() -> Path:
    """Where progress is kept."""
    return progress_folder(spec.ROOT)


def empty() -> dict:
    """The progress of somebody who has not begun."""
    return {"version": VERSION, "student": "", "exercises": {}}


def load() -> dict:
    """All progress. A damaged file is set aside with a message; answers are not in it."""
    path = folder() / "progress.json"
    if not path.exists():
        return empty()
    try:
        text = path.read_text(encoding="utf-8")
        return checked(json.loads(text, parse_constant=_no_number))
    except (ValueError, RecursionError) as error:
        aside = path.with_name(f"progress.damaged-{time.strftime('%Y%m%d-%H%M%S')}.json")
        os.replace(path, aside)
        print(
            f"{path} was damaged ({error}). It is kept as {aside.name}. Your answers are safe: "
            "`python -m exercises check all` finds out again what is solved.",
            file=sys.stderr,
        )
        return empty()


def _no_number(text: str):
    """NaN and Infinity are no JSON, and could not be written again."""
    raise ValueError(f"{text} is not a number")


def checked(data) -> dict:
    """`data` if it has the form of progress; ValueError otherwise. Unknown keys are kept."""
    if not isinstance(data, dict) or not isinstance(data.get("exercises"), dict):
        raise ValueError("not an object with exercises")
    if not isinstance(data.get("student", ""), str):
        raise ValueError("student is not a text")
    for key, entry in data["exercises"].items():
        if not isinstance(entry, dict):
            raise ValueError(f"{key} is not an object")
        for name, default in ENTRY.items():
            if type(entry.setdefault(name, copy.deepcopy(default))) is not type(default):
                raise ValueError(f"{name} of {key} is not a {type(default).__name__}")
        if not all(isinstance(said, dict) for said in entry["tried"]):
            raise ValueError(f"tried of {key} holds something else than objects")
        askers = entry.get("askers", {})
        ids = [entry.get("student", ""), *(askers.values() if isinstance(askers, dict) else [0])]
        if not all(isinstance(one, str) for one in ids):
            raise ValueError(f"student or askers of {key} holds something else than ids")
    return {**empty(), **data}


def change(edit: Callable[[dict], None]) -> dict:
    """Load, edit in place, write, under a lock: two processes lose nothing of each other."""
    with _advised(), files.lock(folder() / "lock"):
        data = load()
        edit(data)
        text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
        # half a surrogate pair becomes the escape that JSON has for it
        files.write(folder() / "progress.json", text.encode("utf-8", "backslashreplace"))
    return data


def keep(path: Path, data: bytes) -> None:
    """Write a file of the progress folder."""
    with _advised():
        files.write(path, data)


@contextlib.contextmanager
def _advised():
    """Say how another place is chosen where this one cannot be written (a full disk is full)."""
    try:
        yield
    except OSError as error:
        if error.errno in (None, errno.ENOSPC):
            raise
        advice = "for progress set MINILLM_PROGRESS to a folder that can be written"
        raise OSError(error.errno, f"{error.strerror}; {advice}", error.filename) from error


def entry(data: dict, exercise_id: str) -> dict:
    """The entry of one exercise, made if it is not there."""
    return data["exercises"].setdefault(exercise_id, copy.deepcopy(ENTRY))


def student() -> str:
    """The learner's id, the seed of personal questions; "" before `student ID` was called."""
    return load()["student"]


def asker(exercise_id: str, data: dict | None = None) -> str:
    """With whose numbers this exercise asks: the id it was begun with, else today's id."""
    data = load() if data is None else data
    return data["exercises"].get(exercise_id, {}).get("student", data["student"])


def begun_with(data: dict, exercise_id: str, student: str) -> None:
    """Keep whose numbers stand in this exercise's file. For change()."""
    entry(data, exercise_id)["student"] = student


def sha(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def record(report, text: bytes, fresh: bool, guess=None) -> dict:
    """Note one grading of `text` -> the exercise's entry. Without an answer in it, it is no try."""
    found = {}

    def edit(data):
        one = entry(data, report.exercise)
        if guess is not None:
            one["guess"] = guess
        if not fresh and report.status == "not started":  # edited, but nothing is written yet
            one["unwritten"] = sha(text)
            if one["solved"]:  # the file does not hold that answer now; `right` still knows it
                one.update(solved=False, sha="")
        elif not fresh:
            _note(one, report, sha(text))
            if spec.get(report.exercise).personal:
                one.setdefault("student", data["student"])
        found.update(one)

    change(edit)
    return found


def _note(one: dict, report, text_sha: str) -> None:
    right = one.get("right", [])
    again = one.get("sha") == text_sha and not one["solved"]  # the same wrong text
    counts = not again and not messages.never_ran(report)
    one["attempts"] += counts and not right
    one["solved"] = report.ok
    one["sha"] = text_sha
    one["right"] = [known for known in right if known != text_sha]
    if report.ok:
        one["right"] = [*one["right"], text_sha][-KEPT_MESSAGES:]
        one.update(failed=0, parked=False)
        return
    one["seed"] = str(report.seed)
    if not counts:
        return
    one["failed"] += 1
    said = {"status": report.status, "message": report.message, "equals": report.equals}
    one["tried"] = [*one["tried"], said][-KEPT_MESSAGES:]


def plain(value):
    """`value` if it is made of finite numbers, lists and dicts, as JSON has them; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        parts = [plain(v) for v in value]
        return None if None in parts else parts
    if isinstance(value, dict):
        parts = {str(k): plain(v) for k, v in value.items()}
        return None if None in parts.values() else parts
    return None
