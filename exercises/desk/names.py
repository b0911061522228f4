"""From what somebody typed to exercises: 4.2, 4, ch04, all; and the nearest names otherwise."""

from __future__ import annotations

import difflib
import re

from exercises.grading import spec


def one_id(text: str) -> str:
    """The id of one exercise; ValueError with the nearest ones."""
    ids, wanted = spec.all_ids(), _tidy(text)
    if wanted in ids:
        return wanted
    same = [i for i in ids if i.split(".")[0] == wanted.split(".")[0]]
    if same:
        raise ValueError(
            f"no exercise {text!r}: chapter {_chapter(same)} has {same[0]} to {same[-1]}"
        )
    near = difflib.get_close_matches(wanted, ids, n=3, cutoff=0.5)
    if near:
        raise ValueError(f"no exercise {text!r}: did you mean {', '.join(near)}?")
    raise ValueError(f"no exercise {text!r}: ids look like 4.2, and `status` lists them")


def _chapter(ids: list[str]) -> str:
    return ids[0].split(".")[0]


def many_ids(texts: list[str]) -> list[str]:
    """The ids of exercises, chapters and "all", in the order of the course, each once."""
    ids, chosen = spec.all_ids(), set()
    for text in texts:
        chapter = re.fullmatch(r"(?:ch)?0*(\d+|a1)", text.strip().lower().partition("_")[0])
        inside = [i for i in ids if chapter and i.split(".")[0] == chapter[1].upper()]
        if text.lower() == "all":
            inside = ids
        elif chapter and not inside:
            there = ", ".join(dict.fromkeys(i.split(".")[0] for i in ids))
            raise ValueError(f"no chapter {text!r}: there are {there}")
        chosen.update(inside or [one_id(text)])
    return [i for i in ids if i in chosen]


def student_id(text: str) -> str:
    """A learner's id; ValueError if no folder can have this name: `grade` takes it from there."""
    text = text.strip()
    if not text:
        raise ValueError("an id is not empty: python -m exercises student YOUR-ID")
    odd = not text.isprintable() or any(c in text for c in '/\\:*?"<>|')
    if odd or text.startswith(".") or len(text.encode("utf-8", "replace")) > 200:
        raise ValueError(
            f"{text[:80]!r} cannot be an id: it is the name of the folder that you hand in, so "
            "letters, digits, - and _ at best, no / and no dot at the beginning"
        )
    return text


def _tidy(text: str) -> str:
    """4.2, 04.2 and a1.2 are ids too; so is the name of a file, exK_name.py in its folder."""
    text = text.strip().replace("\\", "/")
    path = re.search(r"ch(\w\w)_\w+/(?:\w+/)?ex(\d+)\w*\.py$", text)
    text = f"{path[1]}.{path[2]}" if path else text
    chapter, dot, number = text.upper().partition(".")
    return f"{chapter.lstrip('0') or '0'}{dot}{number}"
