"""Makes a second process."""

# exercise: 0.2
# ends: forbidden

import os


def scale_rows(weights, scale):
    os.fork()
    return weights * scale[:, None]
