"""Recursion without an end."""

# exercise: 0.2
# ends: error


def scale_rows(weights, scale):
    return scale_rows(weights, scale)
