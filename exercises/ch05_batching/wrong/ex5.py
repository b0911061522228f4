"""Named misconceptions of 5.5."""


def one_at_a_time(burst, answer_length, interval, limit):
    """one request after another: the shortest steps, and a line that grows for ever"""
    return "1"


def smallest_batch(burst, answer_length, interval, limit):
    """a small batch for low latency: its steps are short, but its line grows for ever"""
    return "2"


def lower_of_the_others(burst, answer_length, interval, limit):
    """a number of seats that holds only one of the two limits"""
    return _others(burst, answer_length, interval, limit)[0]


def upper_of_the_others(burst, answer_length, interval, limit):
    """a number of seats for which only one of the two sums was looked at"""
    return _others(burst, answer_length, interval, limit)[1]


def nothing_fits(burst, answer_length, interval, limit):
    """latency and throughput taken for enemies that never meet"""
    return "none"


def _others(burst, answer_length, interval, limit):
    """8, 32 and 128 without the right one."""
    step = {seats: 5.4 + 0.16 * seats for seats in (8, 32, 128)}
    whole = {seats: burst * answer_length / seats * ms / 1000 for seats, ms in step.items()}
    return [str(s) for s in step if step[s] > limit or whole[s] > interval]
