"""Moves its own file away."""

# exercise: 0.2
# ends: forbidden

import os

os.rename(__file__, __file__ + ".old")


def scale_rows(weights, scale):
    return weights * scale[:, None]
