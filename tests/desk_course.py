"""A copy of the exercises for tests: what a test writes must never reach the tracked files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from exercises.grading import spec

COURSE = Path(__file__).resolve().parents[1] / "exercises"
CHAPTERS = ("ch00_start", "ch02_transformer")  # code, predict and hunt; light to load
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".progress", "*.part")


def untouched_copy(place: Path, chapters: tuple[str, ...] = ()) -> Path:
    """The package `exercises` with a few chapters in `place`, every answer as it was at first."""
    copy, chapters = place / "exercises", chapters or CHAPTERS
    others = [p for p in COURSE.iterdir() if p.name.startswith("ch")]
    left = {p.name for p in others if p.name not in chapters}
    ignore = lambda folder, names: LEFT_OUT(folder, names) | (left & set(names))
    shutil.copytree(COURSE, copy, ignore=ignore)
    for chapter in chapters:
        number = chapter[2:4].lstrip("0").upper() or "0"
        for file in (copy / chapter).glob("ex*_*.py"):
            exercise_id = f"{number}.{file.stem[2:].partition('_')[0]}"
            file.write_text(spec.fresh_text(exercise_id), encoding="utf-8")
    return copy


@pytest.fixture
def course(tmp_path, monkeypatch):
    """The course as this process sees it lies in tmp_path; -> its folder."""
    copy = untouched_copy(tmp_path)
    monkeypatch.setattr(spec, "ROOT", copy)
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "progress"))
    return copy


@pytest.fixture
def command(course, tmp_path):
    """A function that runs Python beside the copy -> CompletedProcess with text."""

    def run(*arguments: str, cwd: Path = tmp_path, **more) -> subprocess.CompletedProcess:
        env = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "160"} | more.pop("env", {})
        return subprocess.run(
            [sys.executable, *arguments], cwd=cwd, env=env, capture_output=True, text=True,
            timeout=240, **more,
        )  # fmt: skip

    return run


@pytest.fixture(scope="session")
def children():
    """One fork server for all tests of a session."""
    from exercises.grading.runner import Children

    with Children() as kept:
        yield kept


def wrong_text(exercise_id: str, name: str) -> str:
    """A learner's file that gives what this named wrong answer gives."""
    source = spec.file_of(exercise_id, "wrong").read_text(encoding="utf-8")
    return f"{source}\n\n{spec.get(exercise_id).entry} = {name}\n"


def right_text(exercise_id: str) -> str:
    """A learner's file that is right."""
    return spec.file_of(exercise_id, "reference").read_text(encoding="utf-8")
