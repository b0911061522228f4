"""Check of 5.3: events of steps of odd lengths, requests that come late, one-token answers."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, number
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="5.3", title="TTFT, TPOT, throughput, p50 and p95", kind="code", entry="summary",
    minutes=20, difficulty=3, torch=False,
    sizes=({"count": 2}, {"count": 1}, {"count": 3}, {"count": 9}, {"count": 24}),
    hints=(
        "A request comes at 10 s and writes tokens at 13, 14 and 15 s. What is its TTFT? Between 3 "
        "tokens there are how many gaps, and what is its TPOT?",
        "ttft = times[0] - arrival. tpot = (times[-1] - times[0]) / (len(times) - 1). "
        "percentile: place = p * (n - 1), low = int(place), high = min(low + 1, n - 1), then "
        "v[low] + (v[high] - v[low]) * (place - low).",
        "times = [[] for _ in arrivals]\n"
        "for time, request in events:\n"
        "    times[request].append(time)\n"
        "ttft = [own[0] - arrival for own, arrival in zip(times, arrivals)]\n"
        "tpot = [(own[-1] - own[0]) / ____ for own in times if len(own) > 1]\n"
        "throughput = len(events) / (events[-1][0] - min(arrivals))",
    ),
)  # fmt: skip
KEYS = ("ttft_p50", "ttft_p95", "tpot_p50", "tpot_p95", "throughput")


def make(rng, count):
    """A small continuous engine: 3 seats, steps that take longer the fuller they are."""
    if count == 2:  # by hand: TTFT 3 and 1, TPOT 1 and 2, 6 tokens in 6 s
        events = [(13.0, 0), (14.0, 0), (14.0, 1), (15.0, 0), (16.0, 0), (16.0, 1)]
        return {"arrivals": [10.0, 13.0], "events": events}
    arrivals = sorted(round(5 + rng.random() * count, 2) for _ in range(count))
    left = [1 if i % 5 == 1 else rng.randrange(2, 12) for i in range(count)]
    now, sitting, line, events = arrivals[0], [], list(range(count)), []
    while line or sitting:
        if not sitting:
            now = max(now, arrivals[line[0]])
        while line and len(sitting) < 3 and arrivals[line[0]] <= now:
            sitting.append(line.pop(0))
        now = round(now + 0.2 + 0.1 * len(sitting) + rng.random() * 0.05, 2)  # 5.97 reads well
        for who in list(sitting):
            events.append((now, who))
            left[who] -= 1
            if not left[who]:
                sitting.remove(who)
    names = list(range(count))  # the numbers say nothing about who came first
    rng.shuffle(names)
    if names[0] == 0:
        names[0], names[-1] = names[-1], names[0]
    came = dict(zip(names, arrivals))
    events = [(time, names[who]) for time, who in events]
    return {"arrivals": [came[name] for name in range(count)], "events": events}


def judge(case, output):
    """Each number to 1e-9: sums in another order, nothing more."""
    if not isinstance(output, dict) or set(output) != set(KEYS):
        raise Wrong("keys", f"return a dict with the keys {', '.join(KEYS)}", got=output)
    want = spec.reference("5.3")(**case)
    for key in KEYS:
        got = number(output[key], key)
        if abs(got - want[key]) > 1e-9 * abs(want[key]):
            raise Wrong("5.3.value", f"{key} is another number", expected=want[key], got=got)
