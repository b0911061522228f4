"""Reference of 8.4."""

from math import erf


def answer(outlier):
    return [erf(largest / 14 / 2**0.5) for largest in (4, outlier)]
