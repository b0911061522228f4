"""The minutes that a notebook and the front page promise are the sums of the exercises'."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exercises.grading import spec

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "notebooks" / "source").glob("*.py"))
TIME = re.compile(r"\*\*Time:\*\* (.*?)\*\*Hardware")


def minutes(number: str) -> tuple[int, int]:
    """(evening path, depth) of a chapter."""
    chapter = number if number.startswith("A") else str(int(number))
    every = [e for e in map(spec.get, spec.all_ids()) if str(e.chapter) == chapter]
    assert every, number
    starred = sum(e.minutes for e in every if e.evening)
    return starred, sum(e.minutes for e in every) - starred


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem[:2])
def test_the_first_cell_promises_what_the_exercises_say(source):
    number, text = source.stem[:2], source.read_text(encoding="utf-8").replace("\n# ", " ")
    evening, depth = minutes(number)
    found = TIME.search(text)
    assert found, "no line of times"
    notebook, *rest = map(int, re.findall(r"\d+", re.sub(r"\(.*?\)", "", found[1])))
    assert rest == [minutes for minutes in (evening, depth) if minutes]

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    row = re.search(rf"\| \[{number}\]\(notebooks/{source.stem}\.ipynb\) \|.*\|", readme)
    assert row, f"{source.stem} is missing in the README's table"
    assert row[0].endswith(f"| {notebook} + {evening} + {depth} |")


def test_the_evenings_are_the_minutes_of_their_chapters():
    """All together, and each evening that holds whole chapters (the others are cut by hand)."""
    need = {}
    for source in SOURCES:
        text = source.read_text(encoding="utf-8").replace("\n# ", " ")
        need[source.stem[:2]] = int(re.search(r"\d+", TIME.search(text)[1])[0])
        need[source.stem[:2]] += minutes(source.stem[:2])[0]
    del need["A1"]  # nothing of the evening path needs it
    page = (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| (.*) \| (\d+) \|$", page, re.M)
    assert len(rows) == 10 and sum(int(told) for _, told in rows) == sum(need.values())
    cut = {name for row, _ in rows for name in re.findall(r"(\d\d) (?:begun|ended)", row)}
    for row, told in rows:
        chapters = re.findall(r"\b\d\d\b", row)
        if not cut & set(chapters):
            assert int(told) == sum(need[name] for name in chapters), row
