"""Reference of 5.1."""


def static_batches(lengths, seats):
    steps = 0
    for start in range(0, len(lengths), seats):
        steps += max(lengths[start : start + seats])
    idle = steps * seats - sum(lengths)
    return steps, idle
