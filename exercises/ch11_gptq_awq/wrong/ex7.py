"""Named wrong answers of 11.7."""


def _shares(wanted, before, after, flip, hidden=None):
    """flip(wanted, before, after) -> bool of one question."""
    rows, count = list(zip(wanted, before, after)), len(wanted)
    one = sum(w == b for w, b, _ in rows) / count
    two = sum(w == a for w, _, a in rows) / count
    flipped = sum(flip(*row) for row in rows) / count
    return one, two, flipped, (hidden or (lambda f, a, b: f - abs(a - b)))(flipped, one, two)


def _flip(w, b, a):
    return (w == b) != (w == a)


def any_change(wanted, before, after):
    """counting every answer that changed, also wrong ones that are still wrong"""
    return _shares(wanted, before, after, lambda w, b, a: b != a)


def losses_only(wanted, before, after):
    """counting only answers that were right and are wrong now"""
    return _shares(wanted, before, after, lambda w, b, a: w == b and w != a)


def difference_of_shares(wanted, before, after):
    """the difference of the two accuracies, which is what hides the flips"""
    one, two, *_ = _shares(wanted, before, after, _flip)
    return one, two, abs(one - two), 0.0


def with_a_sign(wanted, before, after):
    """hidden: (after - before) was taken off, with its sign, not how far the two lie apart"""
    return _shares(wanted, before, after, _flip, lambda f, a, b: f - (b - a))


def not_taken_off(wanted, before, after):
    """hidden: all flips, also those that the accuracies show"""
    return _shares(wanted, before, after, _flip, lambda f, a, b: f)


def share_of_the_right(wanted, before, after):
    """dividing by the answers that were right before, not by all questions"""
    one, two, flipped, hidden = _shares(wanted, before, after, _flip)
    right = one or 1.0
    return one, two, flipped / right, hidden / right


def counts(wanted, before, after):
    """numbers of questions, not shares"""
    return tuple(len(wanted) * x for x in _shares(wanted, before, after, _flip))


def in_percent(wanted, before, after):
    """percent, not shares"""
    return tuple(100 * x for x in _shares(wanted, before, after, _flip))


def with_the_other_sign(wanted, before, after):
    """hidden: (before - after) was taken off, with its sign, not how far the two lie apart"""
    return _shares(wanted, before, after, _flip, lambda f, a, b: f - (a - b))
