"""Finds the answers in what learners handed in. Everything here may be hostile: it is only read.

One sub-folder (or one packed .zip) a learner. In it: files named like ours, flat or in their
chapter's folder, or a file that pack made. Links are never followed.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from exercises.desk import answers, carry, files
from exercises.grading import spec

MOST_FILES = 5000
DEEPEST = 8
LARGEST_TEXT = files.LARGEST


@dataclass
class Submission:
    """What one learner handed in."""

    student: str  # the folder's name: the seed of personal questions
    answers: dict[str, bytes] = field(default_factory=dict)  # exercise id -> text
    problems: list[str] = field(default_factory=list)  # what was left out, and why

    @property
    def name(self) -> str:
        """The name for a table or a file: one line, every character printable."""
        return printable(self.student)


def printable(text: str) -> str:
    """One line without control characters; what cannot be shown is escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def find(folder: Path) -> tuple[list[Submission], list[str]]:
    """(all submissions of a class, by name; what lies there and is none)."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; it must hold one sub-folder a learner")
    found, other = [], []
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            other.append(f"{printable(path.name)} (a link)")
        elif path.is_dir() and not path.name.startswith("."):
            found.append(read_folder(path, path.name))
        elif path.suffix == ".zip":
            one = Submission(path.stem)
            _take_pack(one, path)
            found.append(one)
        else:
            other.append(printable(path.name))
    if not found:
        raise ValueError(f"{folder} holds no sub-folder: one a learner, named by the learner's id")
    twice = {s.student for s in found if sum(s.student == o.student for o in found) > 1}
    if twice:
        raise ValueError(f"both a folder and a .zip of {', '.join(map(printable, sorted(twice)))}")
    return found, other


def read_folder(folder: Path, student: str) -> Submission:
    """One learner's answers."""
    one, packs, flat = Submission(student), [], {}
    names = _names()
    for path in _walk(folder, one.problems):
        relative = path.relative_to(folder).as_posix()
        if path.suffix == ".zip":
            packs.append(path)
        elif exercise_id := carry.id_of("/" + relative):
            _take(one, exercise_id, path, relative)
        elif path.name in names:
            flat[names[path.name]] = (path, relative)
    for exercise_id, (path, relative) in flat.items():
        if exercise_id not in one.answers:  # the one in its chapter's folder goes first
            _take(one, exercise_id, path, relative)
    for path in packs:
        _take_pack(one, path)
    if not one.answers and not one.problems:
        one.problems.append("no file has the name of an exercise's file")
    return one


def _names() -> dict[str, str]:
    """File name -> id, for every name that only one exercise has."""
    found: dict[str, list[str]] = {}
    for exercise_id in spec.all_ids():
        found.setdefault(answers.path_of(exercise_id).name, []).append(exercise_id)
    return {name: ids[0] for name, ids in found.items() if len(ids) == 1}


def _walk(folder: Path, problems: list[str]):
    """Regular .py and .zip files below a folder, in a fixed order; no link is followed."""
    seen, waiting = 0, [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda e: e.name)
        except OSError as error:
            problems.append(f"{printable(here.name)}: {error.strerror}")
            continue
        for entry in entries:
            seen += 1
            if seen > MOST_FILES:
                problems.append(f"more than {MOST_FILES} files: the rest was not read")
                return
            path = Path(entry.path)
            if entry.is_symlink():
                problems.append(f"{printable(entry.name)} is a link: not followed")
            elif entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST and not entry.name.startswith((".", "__pycache__")):
                    waiting.append((path, depth + 1))
            elif path.suffix in (".py", ".zip") and stat.S_ISREG(entry.stat().st_mode):
                yield path


def _take(one: Submission, exercise_id: str, path: Path, relative: str) -> None:
    if exercise_id in one.answers:
        one.problems.append(f"{exercise_id}: a second file, {printable(relative)}, was left out")
        return
    data = files.read(path, LARGEST_TEXT)
    if data is None:
        one.problems.append(f"{printable(relative)} cannot be read or is over 1 MiB: left out")
        return
    one.answers[exercise_id] = data


def _take_pack(one: Submission, path: Path) -> None:
    try:
        packed = carry.read(path)
    except ValueError as error:
        one.problems.append(f"{printable(path.name)}: {printable(str(error))}")
        return
    if packed.strange and not packed.answers:
        text = "no answer in it: `python -m exercises pack` makes a .zip that can be graded"
        one.problems.append(f"{printable(path.name)}: {text}")
    for exercise_id, data in packed.answers.items():
        if len(data) <= LARGEST_TEXT:
            one.answers.setdefault(exercise_id, data)
