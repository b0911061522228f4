"""Named wrong answers of 11.4."""

import math


def _windows(tokens, window, stride, surprises):
    """(start, surprises) of every window, up to the one that reaches the end."""
    for start in range(0, len(tokens), stride):
        yield start, surprises(tokens[start : start + window])
        if start + window >= len(tokens):
            return


def _judged(*given):
    """What each window has to add."""
    done = 1
    for start, found in _windows(*given):
        yield found[done - start - 1 :]
        done = start + 1 + len(found)


def all_of_every_window(*given):
    """every window judging all of its tokens (those in the overlap count twice)"""
    every = [x for _, found in _windows(*given) for x in found]
    return math.exp(sum(every) / len(every))


def no_overlap(tokens, window, stride, surprises):
    """windows that do not overlap: the first token of each is lost, the next have no context"""
    every = [x for _, found in _windows(tokens, window, window, surprises) for x in found]
    return math.exp(sum(every) / len(every))


def mean_of_means(*given):
    """the mean of the windows' means: a short last window counts as much as a full one"""
    parts = [part for part in _judged(*given) if part]
    return math.exp(sum(sum(p) / len(p) for p in parts) / len(parts))


def mean_of_perplexities(*given):
    """the mean of the windows' perplexities"""
    parts = [part for part in _judged(*given) if part]
    return sum(math.exp(sum(p) / len(p)) for p in parts) / len(parts)


def divided_by_all(tokens, *given):
    """dividing by the number of all tokens: the first one is not judged"""
    total = sum(sum(part) for part in _judged(tokens, *given))
    return math.exp(total / len(tokens))


def without_the_last(tokens, window, stride, surprises):
    """leaving out a last window that is not full"""
    parts = list(_judged(tokens, window, stride, surprises))
    full = len(tokens) <= window or (len(tokens) - window) % stride == 0
    every = [x for part in (parts if full else parts[:-1]) for x in part]
    return math.exp(sum(every) / len(every))


def last_stride_of_every_window(tokens, window, stride, surprises):
    """the last `stride` tokens of every window (too few of the first, too many of the last)"""
    every = [x for _, f in _windows(tokens, window, stride, surprises) for x in f[-stride:]]
    return math.exp(sum(every) / len(every))


def one_off(tokens, window, stride, surprises):
    """beginning one token too late in every window but the first"""
    parts = list(_judged(tokens, window, stride, surprises))
    every = parts[0] + [x for part in parts[1:] for x in part[1:]]
    return math.exp(sum(every) / len(every))


def first_part_of_a_window(tokens, window, stride, surprises):
    """judging the first tokens of a window, which have the least context"""
    every = [f[:stride] for _, f in _windows(tokens, window, stride, surprises)]
    every = [x for part in every for x in part]
    return math.exp(sum(every) / len(every))


def last_window_moved_back(tokens, window, stride, surprises):
    """moving the last window back until it is full: it begins at no multiple of the stride"""
    parts = list(_judged(tokens, window, stride, surprises))
    if len(parts) > 1 and parts[-1]:
        parts[-1] = surprises(tokens[-window:])[-len(parts[-1]) :]
    return math.exp(sum(map(sum, parts)) / (len(tokens) - 1))


def no_exp(tokens, *given):
    """the mean of -log p, without exp"""
    return sum(sum(part) for part in _judged(tokens, *given)) / (len(tokens) - 1)


def last_stride_of_later_windows(tokens, window, stride, surprises):
    """the last `stride` tokens of each later window: a short last window has fewer new ones"""
    parts = [found for _, found in _windows(tokens, window, stride, surprises)]
    every = parts[0] + [x for part in parts[1:] for x in part[-stride:]]
    return math.exp(sum(every) / len(every))


def minus_zero(tokens, window, stride, surprises):
    """found[-new:] where new is 0: in Python [-0:] is the whole list, not nothing"""
    total, done = 0.0, 1
    for start in range(0, len(tokens), stride):
        found = surprises(tokens[start : start + window])
        new = max(start + 1 + len(found) - done, 0)
        total += sum(found[-new:])
        done += new
    return math.exp(total / (len(tokens) - 1))


def all_of_every_window_to_the_end(tokens, window, stride, surprises):
    """every window judging all of its tokens, and more windows after the last token is judged"""
    starts = range(0, len(tokens), stride)
    every = [x for start in starts for x in surprises(tokens[start : start + window])]
    return math.exp(sum(every) / len(every))
