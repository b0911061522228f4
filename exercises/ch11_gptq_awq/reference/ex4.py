"""Reference of 11.4."""

import math


def strided_perplexity(tokens, window, stride, surprises):
    total, done = 0.0, 1
    for start in range(0, len(tokens), stride):
        found = surprises(tokens[start : start + window])
        total += sum(found[done - start - 1 :])
        done = start + len(found) + 1
        if done == len(tokens):
            break
    return math.exp(total / (len(tokens) - 1))
