"""Named wrong answers of 5.3."""


def _line(values, p):
    ordered, place = sorted(values), p * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _times(arrivals, events):
    return [[time for time, who in events if who == i] for i in range(len(arrivals))]


def _ttft(arrivals, events):
    return [own[0] - arrival for own, arrival in zip(_times(arrivals, events), arrivals)]


def _tpot(arrivals, events):
    return [(t[-1] - t[0]) / (len(t) - 1) for t in _times(arrivals, events) if len(t) > 1]


def _found(arrivals, events, ttft=None, tpot=None, throughput=None, percentile=_line):
    ttft, tpot = ttft or _ttft(arrivals, events), tpot or _tpot(arrivals, events)
    found = {"throughput": throughput or len(events) / (events[-1][0] - min(arrivals))}
    for name, values in (("ttft", ttft), ("tpot", tpot)):
        for p in (50, 95):
            found[f"{name}_p{p}"] = percentile(values, p / 100)
    return found


def from_the_first_arrival(arrivals, events):
    """TTFT counted from the first arrival of all, not from the request's own"""
    first = min(arrivals)
    return _found(arrivals, events, ttft=[t[0] - first for t in _times(arrivals, events)])


def one_gap_too_many(arrivals, events):
    """TPOT divided by the tokens (n tokens have n - 1 gaps)"""
    tpot = [(t[-1] - t[0]) / len(t) for t in _times(arrivals, events) if len(t) > 1]
    return _found(arrivals, events, tpot=tpot)


def waiting_in_tpot(arrivals, events):
    """TPOT counted from the arrival: the wait for the first token is in it"""
    pairs = zip(_times(arrivals, events), arrivals)
    return _found(arrivals, events, tpot=[(t[-1] - a) / len(t) for t, a in pairs])


def one_token_is_zero(arrivals, events):
    """a TPOT of 0 for requests of one token: they have none"""
    times = _times(arrivals, events)
    return _found(arrivals, events, tpot=[(t[-1] - t[0]) / max(1, len(t) - 1) for t in times])


def mean_of_speeds(arrivals, events):
    """the mean speed of one request, where the speed of all together is asked for"""
    times = _times(arrivals, events)
    speeds = [len(t) / (t[-1] - a) for t, a in zip(times, arrivals)]
    return _found(arrivals, events, throughput=sum(speeds) / len(speeds))


def requests_a_second(arrivals, events):
    """requests a second, not tokens a second"""
    return _found(arrivals, events, throughput=len(arrivals) / (events[-1][0] - min(arrivals)))


def nearest_value(arrivals, events):
    """a percentile taken at the place p * n, without the straight line"""
    return _found(
        arrivals, events, percentile=lambda v, p: sorted(v)[min(len(v) - 1, int(p * len(v)))]
    )


def all_gaps_together(arrivals, events):
    """percentiles over all single gaps: asked is one TPOT a request"""
    gaps = [b - a for t in _times(arrivals, events) for a, b in zip(t, t[1:])]
    return _found(arrivals, events, tpot=gaps)


def request_0_came_first(arrivals, events):
    """the arrival of request 0 taken for the first of all"""
    return _found(arrivals, events, throughput=len(events) / (events[-1][0] - arrivals[0]))


def nearest_place(arrivals, events):
    """the value at the nearest place (values[round(place)]) taken for a percentile"""
    at = lambda v, p: sorted(v)[round(p * (len(v) - 1))]
    return _found(arrivals, events, percentile=at)


def place_below(arrivals, events):
    """the value below the place (values[int(place)]) taken for a percentile"""
    at = lambda v, p: sorted(v)[int(p * (len(v) - 1))]
    return _found(arrivals, events, percentile=at)


def clock_starts_at_the_first_token(arrivals, events):
    """a throughput whose clock starts at the first token, not at the first arrival"""
    return _found(arrivals, events, throughput=len(events) / (events[-1][0] - events[0][0]))
