"""Reference of 8.6."""


def answer(low, high):
    return [high / 127 / 2, high / 7 / 2, (high + low) / 15 / 2]
