"""Skips, as a test may."""

# exercise: 0.2
# ends: error

import unittest


def scale_rows(weights, scale):
    raise unittest.SkipTest("not today")
