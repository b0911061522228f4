"""Reference of 5.4: both ways, step by step."""


def answer(traces, seats, **text):
    return {name: _static(line, seats) / _continuous(line, seats) for name, line in traces.items()}


def _static(lengths, seats):
    return sum(max(lengths[i : i + seats]) for i in range(0, len(lengths), seats))


def _continuous(lengths, seats):
    """The next request always takes the seat that is free first."""
    free = [0] * seats
    for length in lengths:
        first = free.index(min(free))
        free[first] += length
    return max(free)
