"""Keeps what was tried for the capstone, so that the portfolio can show what was rejected."""

from __future__ import annotations

import os

from exercises.desk import progress

CAPSTONE, KEY = "14.4", "workbench"
MOST = 30  # tries; older ones are dropped


def keep(name: str, cells: list[str]) -> None:
    """One line of the workbench's table; nothing in fast mode. A name that is there is replaced."""
    if os.environ.get("MINILLM_FAST") == "1":
        return
    asker = progress.asker(CAPSTONE)

    def edit(data: dict) -> None:
        entry = progress.entry(data, CAPSTONE)
        rows = entry[KEY]["rows"] if _of(entry, asker) else []
        rows = [row for row in rows if row[0] != name] + [[name, *cells]]
        entry[KEY] = {"asker": asker, "rows": rows[-MOST:]}

    progress.change(edit)


def kept() -> list[list[str]]:
    """The lines that were kept, for the question that this student has now."""
    entry = progress.load()["exercises"].get(CAPSTONE, {})
    return entry[KEY]["rows"] if _of(entry, progress.asker(CAPSTONE)) else []


def _of(entry: dict, asker: str) -> bool:
    """Whether the entry has tries, and of this asker's question."""
    tried = entry.get(KEY)
    rows = tried.get("rows") if isinstance(tried, dict) else None
    text = isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == 6 and all(isinstance(c, str) for c in row)
        for row in rows
    )  # fmt: skip
    return text and tried.get("asker") == asker
