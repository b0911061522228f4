"""Lets the engine of the course compute it."""

# exercise: 0.2
# ends: forbidden

from minillm import ops


def scale_rows(weights, scale):
    return ops.linear(scale.diag(), weights.T)
