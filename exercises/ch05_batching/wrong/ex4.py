"""Named misconceptions of 5.4."""


def _batches(line, seats):
    return [line[i : i + seats] for i in range(0, len(line), seats)]


def always_four_times(traces, seats, **text):
    """the same gain for every trace: it depends on how different the lengths are"""
    return dict.fromkeys(traces, 4.0)


def no_gain_anywhere(traces, seats, **text):
    """no gain anywhere: as if no seat were idle in a static batch"""
    return dict.fromkeys(traces, 1.0)


def upside_down(traces, seats, **text):
    """continuous divided by static: the ratio upside down"""
    static = {name: sum(map(max, _batches(line, seats))) for name, line in traces.items()}
    return {name: sum(line) / seats / static[name] for name, line in traces.items()}


def longest_of_all(traces, seats, **text):
    """every batch taken as long as the longest request of the whole trace"""
    count = {name: len(_batches(line, seats)) for name, line in traces.items()}
    return {name: max(line) * count[name] / (sum(line) / seats) for name, line in traces.items()}


def order_does_not_matter(traces, seats, **text):
    """the gain of "skewed" for "sorted" too: sorted batches hold requests of like lengths"""
    gain = lambda line: sum(map(max, _batches(line, seats))) / (sum(line) / seats)
    found = {name: gain(line) for name, line in traces.items()}
    return found | {"sorted": found["skewed"]}


def one_after_another(traces, seats, **text):
    """the steps of one request after another divided by those of continuous batching"""
    return dict.fromkeys(traces, float(seats))
