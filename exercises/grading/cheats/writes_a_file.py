"""Leaves a file beside itself."""

# exercise: 0.2
# ends: forbidden

from pathlib import Path


def scale_rows(weights, scale):
    Path(__file__).with_suffix(".txt").write_text("I was here")
    return weights * scale[:, None]
