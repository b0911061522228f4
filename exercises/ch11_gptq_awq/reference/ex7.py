"""Reference of 11.7."""


def flips(wanted, before, after):
    count = len(wanted)
    right_before = sum(w == b for w, b in zip(wanted, before)) / count
    right_after = sum(w == a for w, a in zip(wanted, after)) / count
    flipped = sum((w == b) != (w == a) for w, b, a in zip(wanted, before, after)) / count
    return right_before, right_after, flipped, flipped - abs(right_after - right_before)
