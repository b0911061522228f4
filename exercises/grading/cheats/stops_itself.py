"""Stops the process, as Ctrl-Z does."""

# exercise: 0.2
# ends: timeout
# wall: 4

import signal


def scale_rows(weights, scale):
    signal.raise_signal(signal.SIGSTOP)
    return weights * scale[:, None]
