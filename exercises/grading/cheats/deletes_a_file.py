"""Deletes its own file."""

# exercise: 0.2
# ends: forbidden

import os

os.remove(__file__)


def scale_rows(weights, scale):
    return weights * scale[:, None]
