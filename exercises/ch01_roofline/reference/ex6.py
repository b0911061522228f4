"""Reference of 1.6."""


def answer(bandwidth, peak):
    reading = max(2 / (bandwidth * 1e9), 2 * 512 / (peak * 1e12))
    writing = 512 * max(2 / (bandwidth * 1e9), 2 / (peak * 1e12))
    return writing / reading
