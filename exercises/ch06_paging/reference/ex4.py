"""Reference of 6.4."""


def answer(mean, max_len, large, small):
    tails = [(large - 1) / 2, (small - 1) / 2]  # empty slots of the last block, on average
    return [1 - mean / max_len] + [tail / (mean + tail) for tail in tails]
