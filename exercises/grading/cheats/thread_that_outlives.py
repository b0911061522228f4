"""Leaves a thread that never ends."""

# exercise: 0.2
# ends: wrong

import threading
import time


def forever():
    while True:
        time.sleep(0.01)


def scale_rows(weights, scale):
    threading.Thread(target=forever).start()
    return weights
