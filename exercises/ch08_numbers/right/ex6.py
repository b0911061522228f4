"""Other right answers of 8.6."""


def powers_of_two(low, high):
    return [high / 2**8, 1.07 * high / 2**4, (high + low) / 2**5]


def in_halves(low, high):
    return [0.5 * high / 127, 0.5 * high / 7, 0.5 * (high - -low) / (2**4 - 1)]
