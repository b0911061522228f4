"""Other right answers of 5.3."""


def with_statistics(arrivals, events):
    """The standard library's inclusive quantiles are the same straight line."""
    from statistics import median, quantiles

    first, last, count = {}, {}, {}
    for time, who in events:
        first.setdefault(who, time)
        last[who], count[who] = time, count.get(who, 0) + 1
    ttft = [first[i] - arrivals[i] for i in first]
    tpot = [(last[i] - first[i]) / (count[i] - 1) for i in first if count[i] > 1]
    p95 = lambda v: quantiles(v, n=20, method="inclusive")[-1] if len(v) > 1 else v[0]
    return {
        "ttft_p50": median(ttft), "ttft_p95": p95(ttft),
        "tpot_p50": median(tpot), "tpot_p95": p95(tpot),
        "throughput": len(events) / (max(last.values()) - min(arrivals)),
    }  # fmt: skip


def gaps_added_up(arrivals, events):
    times = {i: [t for t, who in events if who == i] for i in range(len(arrivals))}
    mean_gap = lambda t: sum(b - a for a, b in zip(t, t[1:])) / (len(t) - 1)
    lists = {
        "ttft": [times[i][0] - arrivals[i] for i in times],
        "tpot": [mean_gap(t) for t in times.values() if t[1:]],
    }
    out = {"throughput": len(events) / (max(events)[0] - min(arrivals))}
    for name, values in lists.items():
        for p in (50, 95):
            out[f"{name}_p{p}"] = _at(sorted(values), p / 100)
    return out


def _at(ordered, p):
    place = p * (len(ordered) - 1)
    share = place % 1
    below = ordered[int(place)]
    return below if not share else (1 - share) * below + share * ordered[int(place) + 1]
