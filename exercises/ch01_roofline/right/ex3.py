"""Other right answers of 1.3."""


def by_time(bandwidth, millions):
    seconds = millions * 4 / 1000 / bandwidth
    return 1 / seconds


def in_the_head(bandwidth, millions):
    return 0.9 * bandwidth * 1000 / (millions * 4)
