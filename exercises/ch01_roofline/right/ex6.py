"""Other right answers of 1.6."""


def the_ridge(bandwidth, peak):
    return peak * 1e12 / (bandwidth * 1e9)


def in_the_head(bandwidth, peak):
    return round(peak / bandwidth * 1000 * 1.1, -1)
