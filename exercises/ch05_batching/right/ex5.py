"""Other right answers of 5.5."""


def largest_within_tpot(burst, answer_length, interval, limit):
    """Of the sizes whose step is short enough the largest is done first."""
    return max((s for s in (2, 8, 32, 128) if 5.4 + 0.16 * s <= limit), key=int).__str__()


def first_that_keeps_up(burst, answer_length, interval, limit):
    """Tokens a second that come against tokens a second that are written."""
    come = burst * answer_length / interval
    return str(next(s for s in (2, 8, 32, 128) if 1000 * s / (5.4 + 0.16 * s) >= come))
