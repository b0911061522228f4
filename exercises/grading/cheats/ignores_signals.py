"""Ignores every signal that can be ignored, and never ends."""

# exercise: 0.2
# ends: timeout

import signal

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def scale_rows(weights, scale):
    while True:
        pass
