"""From a notebook's source to its cells: stable ids, the bootstrap cell, the exercise cells.

In a source, `# %% bootstrap` and `# %% exercise 4.2` are empty cells, so that it runs as a plain
script. Here they become what the learner sees.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import jupytext
import nbformat

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from exercises.grading import spec  # noqa: E402
from minillm.repository import ADDRESS  # noqa: E402

BOOTSTRAP = """\
# Run this first. It finds the course (Colab: fetches it) and loads the %%exercise magic.
import subprocess, sys
from importlib.util import find_spec
from pathlib import Path

DRIVE = False  # Colab forgets your files. True: keep your progress in your Google Drive
here, found = Path.cwd(), find_spec("minillm")
places = [here, *here.parents, here / "minillm"]
if found and found.origin:
    places.append(Path(found.origin).parents[1])
root = next((p for p in places if (p / "exercises" / "grading").is_dir()), None)
if root is None and "google.colab" in sys.modules:
    root = here / "minillm"
    clone = ["git", "clone", "--quiet", "--depth", "1", "{address}"]
    subprocess.run([*clone, str(root)], check=True)
if root is None:
    raise SystemExit("Open this notebook inside the course's folder: it was not found from here.")
sys.path.insert(0, str(root))
from minillm import bootstrap

bootstrap.start(root, drive=DRIVE)"""


class NotebookError(Exception):
    """A notebook that cannot be built or is not what its source says; the message names it."""


def read_source(source: Path) -> nbformat.NotebookNode:
    """A notebook without outputs, its special cells expanded.

    A text cell's id is the one its source gives it: translations hang on it. A code cell's id
    comes from its text, so that an edit elsewhere leaves it.
    """
    notebook = jupytext.read(source, fmt="py:percent")
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        expand(cell, source.name)
        key = cell.metadata.pop("id", None) or _hash(cell)
        seen[key] = seen.get(key, 0) + 1
        cell.id = key if seen[key] == 1 else f"{key}-{seen[key]}"
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _hash(cell) -> str:
    return hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]


def expand(cell, name: str) -> None:
    """Fill an empty cell titled `bootstrap` or `exercise 4.2`, in place."""
    title = cell.metadata.get("title", "")
    exercise = re.fullmatch(r"exercise (\S+)", title)
    if cell.cell_type != "code" or not (exercise or title == "bootstrap"):
        if title.lower().startswith(("exercise", "bootstrap")):
            raise NotebookError(f"{name}: write `# %% exercise 4.2`, not `# %% {title}`")
        return
    if cell.source.strip():
        raise NotebookError(f"{name}: the cell `# %% {title}` must be empty: it is filled here")
    del cell.metadata["title"]
    if not exercise:
        cell.source, cell.metadata["id"] = BOOTSTRAP.replace("{address}", ADDRESS), "bootstrap"
        return
    try:
        text = spec.fresh_text(exercise[1])
    except ValueError as error:
        raise NotebookError(f"{name}: {error}") from None
    cell.source = f"%%exercise {exercise[1]}\n{text.rstrip()}"
    cell.metadata["id"] = f"exercise-{exercise[1].replace('.', '-')}"


def id_problems(source: Path) -> list[str]:
    """What is wrong with the ids of a source's text cells; [] if each has one of its own."""
    found, seen = [], set()
    chapter = source.stem.split("_")[0].lower()
    for cell in jupytext.read(source, fmt="py:percent").cells:
        if cell.cell_type != "markdown":
            continue
        key, words = cell.metadata.get("id"), cell.source.strip().partition("\n")[0][:40]
        if key is None:
            found.append(f'{source.name}: a text cell has no id="{chapter}-...": {words!r}')
        elif key in seen:
            found.append(f"{source.name}: two text cells have the id {key}")
        elif not re.fullmatch(rf"{chapter}-[a-z0-9-]{{1,50}}", key):
            found.append(f"{source.name}: the id {key} must be like {chapter}-why-cache")
        seen.add(key)
    return found
