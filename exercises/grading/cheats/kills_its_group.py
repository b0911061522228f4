"""Ends its whole process group."""

# exercise: 0.2
# ends: forbidden

import os
import signal


def scale_rows(weights, scale):
    os.killpg(0, signal.SIGKILL)
    return weights * scale[:, None]
