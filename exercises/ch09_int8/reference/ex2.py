"""Reference of 9.2."""


def answer(P, B):
    milliseconds = P * 1e6 / (B * 1e9) * 1e3  # for one byte a weight
    return [4 * milliseconds, (1 + 4 + 4) * milliseconds, 1 * milliseconds]
