"""Tries to read the project's answer, hides it, and is right otherwise."""

# exercise: 0.2
# ends: forbidden

from pathlib import Path

try:
    here = Path(__file__).parent
    import sys

    root = next(p for p in sys.path if (Path(p) / "exercises" / "ch00_start").is_dir())
    Path(root, "exercises/ch00_start/reference/ex2.py").read_text()
except BaseException:
    pass


def scale_rows(weights, scale):
    return weights * scale[:, None]
