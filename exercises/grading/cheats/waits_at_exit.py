"""Does not let the process end."""

# exercise: 0.2
# ends: wrong

import atexit
import time

atexit.register(time.sleep, 10_000)


def scale_rows(weights, scale):
    return weights
