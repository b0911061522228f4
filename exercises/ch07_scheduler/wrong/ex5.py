"""Named wrong answers of 7.5."""

PARTS = (1, 0.5, 0.1)


def _right(prompt):
    return [1000 * max(2 * 6.7e9 / 300e9, 2 * 6.7e9 * part * prompt / 60e12) for part in PARTS]


def ten_times_less(prompt):
    """a tenth of the time for a tenth of the tokens: but all weights are read all the same"""
    return [_right(prompt)[0] * part for part in PARTS]


def bound_by_bytes(prompt):
    """the time to read the weights, three times: with many tokens the arithmetic takes longer"""
    return [1000 * 2 * 6.7e9 / 300e9] * 3


def cache_saves_no_time(prompt):
    """three times the same: what is in the cache is not computed again"""
    return [_right(prompt)[0]] * 3


def computes_what_is_shared(prompt):
    """the shared part computed, and not the rest"""
    return _right(prompt)[:2] + [1000 * 2 * 6.7e9 * 0.9 * prompt / 60e12]


def one_flop_a_weight(prompt):
    """one FLOP a weight: a multiplication and an addition are two"""
    found = [6.7e9 * part * prompt / 60e12 for part in PARTS]
    return [1000 * max(2 * 6.7e9 / 300e9, seconds) for seconds in found]


def bytes_and_arithmetic_added(prompt):
    """moving and computing one after the other: they overlap, the slower one decides"""
    moving = 1000 * 2 * 6.7e9 / 300e9
    return [moving + 1000 * 2 * 6.7e9 * part * prompt / 60e12 for part in PARTS]


def in_seconds(prompt):
    """seconds: the question was milliseconds"""
    return [ms / 1000 for ms in _right(prompt)]
