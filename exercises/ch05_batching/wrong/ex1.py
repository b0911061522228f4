"""Named wrong answers of 5.1."""


def _batches(lengths, seats):
    return [lengths[i : i + seats] for i in range(0, len(lengths), seats)]


def ends_with_the_first(lengths, seats):
    """a batch that ends when its SHORTEST request is done"""
    steps = sum(min(b) for b in _batches(lengths, seats))
    return steps, steps * seats - sum(lengths)


def empty_seats_forgotten(lengths, seats):
    """the seats that the last batch does not fill, not counted as idle"""
    batches = _batches(lengths, seats)
    return sum(map(max, batches)), sum(max(b) * len(b) - sum(b) for b in batches)


def last_batch_forgotten(lengths, seats):
    """a last batch that is not full, never served"""
    full = [b for b in _batches(lengths, seats) if len(b) == seats]
    steps = sum(map(max, full))
    return steps, steps * seats - sum(map(sum, full))


def sorted_first(lengths, seats):
    """the line sorted by length first (nobody knows the lengths before)"""
    steps = sum(map(max, _batches(sorted(lengths), seats)))
    return steps, steps * seats - sum(lengths)


def as_if_refilled(lengths, seats):
    """tokens divided by seats: no seat would ever be idle"""
    steps = -(-sum(lengths) // seats)
    return steps, steps * seats - sum(lengths)


def one_step_more(lengths, seats):
    """one step more for each batch (the step that writes the last token is the last one)"""
    steps = sum(max(b) + 1 for b in _batches(lengths, seats))
    return steps, steps * seats - sum(lengths)


def idle_seats_not_steps(lengths, seats):
    """the requests that had to wait, not the steps that their seats were idle"""
    batches = _batches(lengths, seats)
    return sum(map(max, batches)), sum(n < max(b) for b in batches for n in b)
