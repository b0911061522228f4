"""Other right answers of 6.4: in the band."""


def half_a_block(mean, max_len, large, small):
    return [(max_len - mean) / max_len] + [p / (2 * mean + p) for p in (large, small)]


def by_counting(mean, max_len, large, small):
    found = []
    for size in (large, small):
        tokens = range(mean - mean % size + 1, mean - mean % size + size + 1)
        slots = sum(-(-n // size) * size for n in tokens)
        found.append(round(1 - sum(tokens) / slots, 3))
    return [round(1 - mean / max_len, 3), *found]
