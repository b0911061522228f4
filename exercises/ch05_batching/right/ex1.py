"""Other right answers of 5.1."""


def step_by_step(lengths, seats):
    line, steps, idle = list(lengths), 0, 0
    while line:
        batch, line = line[:seats], line[seats:]
        for step in range(max(batch)):
            steps += 1
            idle += seats - sum(length > step for length in batch)
    return steps, idle


def batch_by_batch(lengths, seats):
    if not lengths:
        return 0, 0
    batch, rest = lengths[:seats], lengths[seats:]
    longest = max(batch)
    steps, idle = batch_by_batch(rest, seats)
    return steps + longest, idle + longest * seats - sum(batch)
