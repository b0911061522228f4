"""Reference of 1.3."""


def answer(bandwidth, millions):
    return bandwidth * 1e9 / (millions * 1e6 * 4)
