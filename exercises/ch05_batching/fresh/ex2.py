"""Exercise 5.2: continuous batching: refill a seat at the next step.

Same line, same seats as in 5.1, but the batch is formed anew BEFORE EVERY STEP:

1. Every free seat, lowest number first, takes the next request of the line (first come, first
   served). Nobody knows how long an answer will be, so do not sort.
2. The step runs. Every request that sits writes one token. Who has written all its tokens leaves.

A request keeps its seat until it leaves. Return the timeline: one list a step, with the number of
the request on each seat, None where nobody sits.

By hand: lengths 1, 3, 2 on 2 seats -> [[0, 1], [2, 1], [2, 1]].
Names for `trace`: waiting (the line), sitting (request or None, by seat), left (tokens still to
write: a list, by request).
"""


def continuous_timeline(lengths: list[int], seats: int) -> list[list[int | None]]:
    """Returns for each step who sits on each seat."""
    raise NotImplementedError(
        "Exercise 5.2: fill the free seats, run a step, let the ready ones go"
    )
