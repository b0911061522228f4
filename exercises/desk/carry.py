"""pack and unpack: a learner's answers, progress, backups and scoreboard in one file.

Colab forgets everything at night, and people change machines. The file is a zip; what unpack
reads may come from anybody, so nothing in it decides where something is written: names only say
which exercise a text belongs to.
"""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from exercises.desk import answers, files, names, progress
from exercises.grading import spec

MANIFEST = {"format": "minillm-pack", "version": 1}
MOST_ENTRIES = 20_000
LARGEST_ENTRY = 16 << 20  # bytes of one text; progress with everything ever tried is 0.1 MB
LARGEST_TOTAL = 128 << 20
BROKEN = (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError)


@dataclass
class Packed:
    """What a packed file holds."""

    answers: dict[str, bytes] = field(default_factory=dict)  # exercise id -> text
    backups: dict[tuple[str, str], bytes] = field(default_factory=dict)  # (id, file name) -> text
    progress: dict | None = None
    scoreboard: bytes | None = None
    strange: list[str] = field(default_factory=list)  # names that mean nothing here


def pack(target: Path) -> str:
    """Write everything of this learner into one file -> a line for the learner."""
    target = Path(target).absolute()
    if target.exists() and not is_pack(target):
        raise ValueError(f"{target} exists and was not made by pack, so it is not replaced")
    files.check_place(target)
    parts = {"manifest.json": json.dumps(MANIFEST).encode()}
    for exercise_id in spec.all_ids():
        text = answers.read(exercise_id)
        if text is not None and not answers.is_fresh(exercise_id, text.decode("utf-8", "replace")):
            path = answers.path_of(exercise_id)
            parts[f"answers/{path.parent.name}/{path.name}"] = text
        for kept in answers.backups(exercise_id):
            parts[f"backups/{exercise_id}/{kept.name}"] = kept.read_bytes()
    count = sum(name.startswith("answers/") for name in parts)
    parts["progress.json"] = json.dumps(progress.load()).encode()
    board = files.read(scoreboard(), LARGEST_ENTRY)
    if board is not None:
        parts["scoreboard.json"] = board
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    place = f"{target} (in place of an older pack)" if target.exists() else str(target)
    files.write(target, out.getvalue())
    return (
        f"{place}: {count} answers and all progress. On the other machine: "
        f"python -m exercises unpack {target.name}"
    )


def scoreboard() -> Path:
    """Where the learner's own rows of the scoreboard lie."""
    return progress.folder() / "scoreboard.json"


def is_pack(path: Path) -> bool:
    """Whether this is a file that pack made."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, archive.getinfo("manifest.json")) == json.dumps(MANIFEST).encode()
    except (KeyError, ValueError, *BROKEN):
        return False


def read(path: Path) -> Packed:
    """Everything in a packed file, within limits; ValueError that says what is wrong with it."""
    if not path.is_file():
        raise ValueError(f"{path} does not exist or is not a file")
    found, total = Packed(), 0
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [e for e in archive.infolist() if not e.is_dir()]
            if len(entries) > MOST_ENTRIES:
                raise ValueError(f"{path} holds {len(entries)} files; {MOST_ENTRIES} is the most")
            if len({e.filename for e in entries}) < len(entries):
                raise ValueError(f"{path} holds two files of the same name")
            for entry in entries:
                data = _read(archive, entry)
                total += len(data)
                if total > LARGEST_TOTAL:
                    raise ValueError(f"{path} unpacks to more than {LARGEST_TOTAL >> 20} MiB")
                _sort_in(found, entry.filename, data)
    except BROKEN as error:
        raise ValueError(f"{path} cannot be read as a packed file: {error}") from None
    return found


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of an entry. What it says about its own size is not believed."""
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise ValueError(f"{entry.filename!r} is a symbolic link")
    with archive.open(entry) as file:
        data = file.read(LARGEST_ENTRY + 1)
    if len(data) > LARGEST_ENTRY:
        raise ValueError(f"{entry.filename!r} unpacks to more than {LARGEST_ENTRY >> 20} MiB")
    return data


def _sort_in(found: Packed, name: str, data: bytes) -> None:
    kept = re.fullmatch(r"backups/((?:\d+|A1)\.\d+)/(\d{8}-[\d-]+-[0-9a-f]{12}\.py)", name)
    if name == "progress.json":
        try:
            found.progress = progress.checked(json.loads(data))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the progress in it is damaged: {error}") from None
    elif name == "scoreboard.json":
        found.scoreboard = data
    elif kept and kept[1] in spec.all_ids():
        found.backups[kept[1], kept[2]] = data
    elif name.startswith("answers/") and (exercise_id := id_of(name)):
        found.answers[exercise_id] = data
    elif name != "manifest.json":
        found.strange.append(name)


def id_of(name: str) -> str | None:
    """The exercise of ".../ch04_kv_cache/ex2_append.py"; None if there is no such one."""
    try:
        return names.one_id(name) if re.search(r"ch\w\w_\w+/ex\d+_\w+\.py$", name) else None
    except ValueError:
        return None


def unpack(path: Path) -> str:
    """Take everything over. What stood here before is kept in the backups."""
    packed = read(Path(path))
    for exercise_id in packed.answers:  # before anything is written
        answers.refuse_foreign_link(answers.path_of(exercise_id))
    theirs = packed.progress or progress.empty()
    who = theirs["student"] or progress.student()
    if who != progress.student():
        answers.personalise(who)
    for (exercise_id, name), data in packed.backups.items():
        target = progress.folder() / "backups" / exercise_id / name
        if not target.exists():
            progress.keep(target, data)
    saved = [answers.save(exercise_id, data) for exercise_id, data in packed.answers.items()]
    if packed.scoreboard is not None:
        _take_scoreboard(packed.scoreboard)
    progress.change(lambda data: merge(data, theirs, packed.answers))
    parts = [f"{len(saved)} answers taken over"]
    kept = sum(s.backup is not None for s in saved)
    if kept:
        parts.append(f"{kept} texts that stood here are in the backups")
    if packed.strange:
        few = ", ".join(map(repr, packed.strange[:3]))
        parts.append(f"{len(packed.strange)} files ignored: {few}")
    return "; ".join(parts)


def _take_scoreboard(data: bytes) -> None:
    old = files.read(scoreboard(), LARGEST_ENTRY)
    if old is not None and old != data:
        mark = progress.sha(old)[:12]
        progress.keep(scoreboard().with_name(f"scoreboard.before-{mark}.json"), old)
    progress.keep(scoreboard(), data)


def merge(data: dict, packed: dict, taken: dict) -> None:
    """Packed progress over ours; what only one of the two knows stays.

    taken: the answers that came over, each with the numbers it was begun with.
    """
    for exercise_id, theirs in packed["exercises"].items():
        ours = data["exercises"].get(exercise_id, {})
        both = {**ours, **theirs}
        both["attempts"] = max(ours.get("attempts", 0), theirs["attempts"])
        both["hints"] = max(ours.get("hints", 0), theirs["hints"])
        both["seen"] = ours.get("seen", False) or theirs["seen"]
        if "askers" in both:
            both["askers"] = {**ours.get("askers", {}), **both["askers"]}
        both.pop("student", None)
        if "student" in ours:
            both["student"] = ours["student"]
        data["exercises"][exercise_id] = both
    for exercise_id in taken:
        if spec.get(exercise_id).personal:
            progress.begun_with(data, exercise_id, progress.asker(exercise_id, packed))
