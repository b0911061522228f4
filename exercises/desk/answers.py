"""The learner's files: read them, say what state they are in, never overwrite one without a backup.

The state of an exercise is one of STATES; it comes from the file itself and from what the last
grading of exactly this text said.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from exercises.desk import files, progress, tracked
from exercises.grading import spec

STATES = ("solved", "parked", "failing", "changed", "missing", "not started", "cannot run here")


@dataclass(frozen=True)
class Saved:
    """What `save` did."""

    path: Path
    changed: bool  # whether the file's text is another one now
    backup: Path | None  # where the old text is; None if there was nothing to keep


def path_of(exercise_id: str) -> Path:
    """The learner's file; when it was deleted, where it comes back.

    Where there are several, the first: to read only, see `the_one`.
    """
    try:
        return spec.learner_file(exercise_id)
    except ValueError:
        if exercise_id not in spec.all_ids():
            raise
        folder, number = spec.folder_of(exercise_id), exercise_id.split(".")[1]
        return min(folder.glob(f"ex{number}_*.py"), default=folder / tracked.name_of(exercise_id))


def the_one(exercise_id: str) -> Path:
    """path_of, for whoever writes: ValueError if there are several files to choose from."""
    path = path_of(exercise_id)
    if path.exists():
        spec.learner_file(exercise_id)
    refuse_foreign_link(path)
    return path


def refuse_foreign_link(path: Path) -> None:
    """OSError if a learner's file is a link to something that is no learner's answer."""
    if not path.is_symlink():
        return
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(spec.ROOT))
    ours = root in real.parents and not re.fullmatch(r"ex\d+_\w+\.py", real.name)
    if real.suffix != ".py" or ours:
        raise OSError(
            f"{shown(path)} is a link to {real}, which is no answer, so it is not overwritten: "
            "remove the link"
        )


def shown(path: Path) -> str:
    """A path as a reader wants it: from the course's folder, with forward slashes."""
    try:
        return path.relative_to(spec.ROOT.parent).as_posix()
    except ValueError:
        return str(path)


def read(exercise_id: str) -> bytes | None:
    """The bytes of the learner's file; None if it is missing or too long to be an answer."""
    return files.read(path_of(exercise_id))


def tidy(text: str) -> str:
    """Line ends and white space at ends of lines do not make a text another one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def is_fresh(exercise_id: str, text: str) -> bool:
    """Whether this is an untouched text: any student's numbers, any variant of a hunt."""
    first = spec.file_of(exercise_id, "fresh")
    for path in (first, *first.parent.glob(f"{first.stem}_*.py")):
        template = tidy(path.read_text(encoding="utf-8"))
        parts = re.split(r"(\{\{\w+(?::[^}]*)?\}\})", template)
        filled = [re.escape(part) for part in parts]
        for place in range(1, len(parts), 2):
            # alone in its lines: a table of several lines, which ends with the docstring at most
            alone = parts[place - 1].endswith("\n") and parts[place + 1].startswith("\n")
            filled[place] = r'(?:(?!""")[^\0])+?' if alone else r"[^\n]+?"
        if re.fullmatch("".join(filled), tidy(text)):
            return True
    return False


def state(exercise_id: str, data: dict) -> str:
    """One of STATES. `data` is progress.load()."""
    one = data["exercises"].get(exercise_id, progress.ENTRY)
    if one["parked"]:
        return "parked"
    text = read(exercise_id)
    if text is None:
        return "missing"
    if not is_fresh(exercise_id, text.decode("utf-8", "replace")):
        mark = progress.sha(text)
        if one.get("unwritten") == mark:
            return "not started"
        if one.get("sha") == mark:
            return "solved" if one["solved"] else "failing"
        if mark in one.get("right", []):  # graded before, and taken back
            return "solved"
        return "changed" if can_run(spec.get(exercise_id)) else "cannot run here"
    return "not started" if can_run(spec.get(exercise_id)) else "cannot run here"


def can_run(exercise: spec.Exercise) -> bool:
    """Whether this machine has what the exercise needs."""
    if exercise.kind == "kernel" and importlib.util.find_spec("triton") is None:
        return False
    return "gpu" not in exercise.hardware.lower() or shutil.which("nvidia-smi") is not None


def save(exercise_id: str, text: str | bytes) -> Saved:
    """Make `text` the learner's answer. The old text is kept first; OSError changes nothing."""
    path = path_of(exercise_id)
    refuse_foreign_link(path)
    new = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    old = files.read(path, limit=1 << 30)
    if old is None and path.exists():
        raise OSError(f"{shown(path)} cannot be read, so it is not overwritten")
    if old == new:
        return Saved(path, False, None)
    kept = None if old is None else back_up(exercise_id, old)
    files.write(path, new)
    return Saved(path, True, kept)


def back_up(exercise_id: str, old: bytes) -> Path | None:
    """Keep a text that is about to go; None if it is a fresh one. The same text is kept once."""
    if is_fresh(exercise_id, old.decode("utf-8", "replace")):
        return None
    place, mark = progress.folder() / "backups" / exercise_id, progress.sha(old)[:12]
    for known in place.glob(f"*-{mark}.py"):
        return known
    now = time.time()
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now)) + f"-{int(now % 1 * 1e6):06d}"
    kept = place / f"{stamp}-{mark}.py"
    progress.keep(kept, old)
    return kept


def backups(exercise_id: str) -> list[Path]:
    """Every kept text, the newest last."""
    return sorted((progress.folder() / "backups" / exercise_id).glob("*.py"))


def mirror() -> Path | None:
    """Where a copy of every answer is kept: only where MINILLM_PROGRESS names a place.

    On Colab that is a folder in the learner's Drive, and the course's own files are gone tomorrow.
    """
    return progress.folder() / "answers" if os.environ.get("MINILLM_PROGRESS") else None


def keep_copy(exercise_id: str, text: bytes | None) -> None:
    """Put this answer into the mirror; None takes it out."""
    place = mirror()
    if place is None:
        return
    path = place / f"{exercise_id}.py"
    if text is None:
        path.unlink(missing_ok=True)
    elif files.read(path) != text:
        progress.keep(path, text)


def bring_back() -> list[str]:
    """Answers of the mirror whose file is untouched here go back to their files -> their ids."""
    place, done = mirror(), []
    for exercise_id in spec.all_ids() if place and place.is_dir() else []:
        text, here = files.read(place / f"{exercise_id}.py"), read(exercise_id)
        untouched = here is None or is_fresh(exercise_id, here.decode("utf-8", "replace"))
        if text is not None and untouched and save(exercise_id, text).changed:
            done.append(exercise_id)
    return done


def begin(exercise_id: str, student: str) -> Saved:
    """Write the untouched text with this student's numbers, and keep whose they are."""
    saved = save(exercise_id, spec.fresh_text(exercise_id, student))
    if spec.get(exercise_id).personal:
        progress.change(lambda data: progress.begun_with(data, exercise_id, student))
    return saved


def begun(exercise_id: str) -> bool:
    """Whether the learner's file holds something of the learner's."""
    text = read(exercise_id)
    return text is not None and not is_fresh(exercise_id, text.decode("utf-8", "replace"))


def set_student(data: dict, student: str) -> None:
    """Change the learner's id; questions that were begun before keep the id they were asked with.

    For progress.change().
    """
    for exercise_id in spec.all_ids():
        one = data["exercises"].get(exercise_id, {})
        if "student" not in one and spec.get(exercise_id).personal and begun(exercise_id):
            progress.begun_with(data, exercise_id, data["student"])
    data["student"] = student


def personalise(student: str) -> tuple[list[str], list[str]]:
    """Set the id, and give untouched personal questions its numbers -> (rewritten, left)."""
    personal = [i for i in spec.all_ids() if spec.get(i).personal]
    for exercise_id in personal:  # before anything is written
        refuse_foreign_link(path_of(exercise_id))
    progress.change(lambda data: set_student(data, student))
    left = [i for i in personal if begun(i)]
    return [i for i in personal if i not in left and begin(i, student).changed], left
