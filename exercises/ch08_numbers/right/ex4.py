"""Other right answers of 8.4."""

from statistics import NormalDist


def by_distribution(outlier):
    return [2 * NormalDist().cdf(largest / 14) - 1 for largest in (4, outlier)]


def a_little_off(outlier):
    return [1.1 * (2 * NormalDist().cdf(largest / 14) - 1) for largest in (4, outlier)]
