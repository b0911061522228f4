"""Answers that try to be taken for right, or to do harm, and how each of them must end.

Every file is one cheat. Its first lines say for which exercise it is and how it must end:

    # exercise: 0.2
    # ends: forbidden
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from exercises.grading.limits import Limits

FOLDER = Path(__file__).parent
# Smaller than a learner's, so that the endless ones end soon.
LIMITS = Limits(cpu_s=2.0, wall_s=20.0, memory=2**30, printed=2**20, result=2**22)


@dataclass(frozen=True)
class Cheat:
    name: str
    exercise: str
    entry: str
    statuses: tuple[str, ...]
    text: str
    what: str  # its first line
    limits: Limits = LIMITS


def read(path: Path) -> Cheat:
    """A cheat's file."""
    text = path.read_text(encoding="utf-8")
    facts = dict(re.findall(r"^# (exercise|entry|ends|wall): (.+)$", text, re.M))
    limits = LIMITS
    if "wall" in facts:
        limits = replace(LIMITS, wall_s=float(facts["wall"]))
    return Cheat(
        path.stem, facts["exercise"], facts.get("entry", ""),
        tuple(facts["ends"].split(" or ")), text, text.split("\n")[0].strip('"'), limits,
    )  # fmt: skip


def all_cheats() -> list[Cheat]:
    return [read(p) for p in sorted(FOLDER.glob("*.py")) if p.stem != "__init__"]
