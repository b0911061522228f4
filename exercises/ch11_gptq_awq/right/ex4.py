"""Other right answers of 11.4."""

import math


def by_places(tokens, window, stride, surprises):
    """The first window that holds a token decides: later ones do not overwrite it."""
    judged = {}
    for start in range(0, len(tokens) - 1, stride):
        for offset, value in enumerate(surprises(tokens[start : start + window]), start + 1):
            judged.setdefault(offset, value)
    return math.exp(math.fsum(judged.values()) / len(judged))


def from_the_end(tokens, window, stride, surprises):
    """As programs for long texts do it: previous end, and how many tokens are new."""
    values, previous, start = [], 1, 0
    while previous < len(tokens):
        end = min(start + window, len(tokens))
        found = surprises(tokens[start:end])
        values += found[len(found) - (end - previous) :] if end > previous else []
        previous, start = end, start + stride
    return math.exp(sum(values) / len(values))
