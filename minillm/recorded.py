"""Reports of the project's own long runs (docs/NAME.json), for who has no hour to wait. No torch.

An installed package has no docs/ folder, and a run may not be recorded yet: both are a plain None
here, and one line that says so.
"""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "docs"


def report(suite: str, folder: Path = FOLDER) -> dict | None:
    """What `minillm bench --suite SUITE` wrote on the project's machine; None: not recorded yet.

    A report of fast mode, of another suite, or one that cannot be read counts as none.
    """
    try:
        found = json.loads((folder / f"{suite}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    usable = isinstance(found, dict) and found.get("suite") == suite and not found.get("fast")
    return found if usable else None


def command(suite: str) -> str:
    """The command that makes the report."""
    return f"minillm bench --suite {suite} --json docs/{suite}.json"


def told(suite: str, found: dict | None) -> str:
    """One line under a recorded figure: when, on which machine, by which command."""
    if found is None:
        return f"not recorded yet: run `{command(suite)}`"
    machine, versions = found["machine"], found["versions"]
    broken = ", interrupted: not all rows" if found.get("interrupted") else ""
    return (
        f"recorded {found['date'][:10]}, {machine['cpu']}, {machine['threads']} threads, "
        f"torch {versions['torch']}: `{command(suite)}`{broken}"
    )
