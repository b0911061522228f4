"""Exercise 5.1: what does a static batch waste?

Requests wait in a line. lengths[i] is how many tokens request i writes: one token a step. There are
`seats` seats. A STATIC batch takes the first `seats` requests of the line (the last batch may get
fewer). The next batch begins when the LONGEST request of this one is done.

Count the steps until everybody is served, and the idle seat-steps. A seat-step is one seat in one
step. It is idle when nobody sits there, or when the request that sits there is done already. Seats
without a request in the last batch are idle, too.

By hand: lengths 2, 1, 1, 3, 1 on 2 seats. Batches [2, 1], [1, 3], [1]: 6 steps, 4 idle.
"""


def static_batches(lengths: list[int], seats: int) -> tuple[int, int]:
    """Returns (steps, idle seat-steps)."""
    raise NotImplementedError("Exercise 5.1: each batch lasts as long as its longest request")
