"""Waits for ever without any work."""

# exercise: 0.2
# ends: timeout
# wall: 4

import time


def scale_rows(weights, scale):
    time.sleep(10_000)
    return weights * scale[:, None]
