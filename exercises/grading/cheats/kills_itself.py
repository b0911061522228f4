"""Ends the process by a signal."""

# exercise: 0.2
# ends: crashed

import signal


def scale_rows(weights, scale):
    signal.raise_signal(signal.SIGKILL)
