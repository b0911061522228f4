"""Where things live: the one place that holds the repository's address, and the progress folder.

The first cell of every notebook (on Colab it fetches the course) and the README take it from here.
Set it once, then run `make notebooks`.
"""

from __future__ import annotations

import os
from pathlib import Path

ADDRESS = "https://github.com/minillm-course/minillm"


EXERCISES = Path(__file__).resolve().parents[1] / "exercises"


def progress_folder(exercises: Path = EXERCISES) -> Path:
    """Where a learner's progress is kept: MINILLM_PROGRESS, or exercises/.progress."""
    own = os.environ.get("MINILLM_PROGRESS")
    if own:
        return Path(own).expanduser().absolute()
    return exercises / ".progress"
