"""Reference of 5.3."""


def percentile(values, p):
    ordered, place = sorted(values), p * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def summary(arrivals, events):
    times = [[] for _ in arrivals]
    for time, request in events:
        times[request].append(time)
    ttft = [own[0] - arrival for own, arrival in zip(times, arrivals)]
    tpot = [(own[-1] - own[0]) / (len(own) - 1) for own in times if len(own) > 1]
    found = {}
    for name, values in (("ttft", ttft), ("tpot", tpot)):
        found[f"{name}_p50"] = percentile(values, 0.5)
        found[f"{name}_p95"] = percentile(values, 0.95)
    found["throughput"] = len(events) / (events[-1][0] - min(arrivals))
    return found
