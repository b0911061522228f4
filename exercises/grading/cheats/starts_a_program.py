"""Starts a shell."""

# exercise: 0.2
# ends: forbidden

import subprocess


def scale_rows(weights, scale):
    subprocess.run(["true"])
    return weights * scale[:, None]
