"""Exercise 5.3: TTFT, TPOT and throughput from the engine's events.

arrivals[i] is the time (seconds) at which request i came. events is a list of (time, request): one
for every token, in the order of time; `request` wrote a token, and `time` is when its step ended.

    TTFT          of a request: its first token minus its arrival (waiting counts!)
    TPOT          of a request: (last token - first token) / (tokens - 1)
                  a request of one token has none: leave it out
    throughput    all tokens / (last event - first arrival)

Return a dict: "ttft_p50", "ttft_p95", "tpot_p50", "tpot_p95" in seconds, "throughput" in tokens a
second. The percentile p of n sorted values stands at place p * (n - 1), counted from 0. Between two
places take the straight line: place 2.3 is 0.7 of value 2 and 0.3 of value 3.

Names for `trace`: ttft and tpot, the lists of all requests, in the order of their numbers.
"""


def percentile(values: list[float], p: float) -> float:
    """p from 0 to 1. Write it first; it is used four times."""
    raise NotImplementedError("Exercise 5.3: sort, find the place, take the straight line")


def summary(arrivals: list[float], events: list[tuple[float, int]]) -> dict[str, float]:
    """Every request wrote at least one token, and some wrote more."""
    raise NotImplementedError("Exercise 5.3: collect the times of each request, then summarise")
