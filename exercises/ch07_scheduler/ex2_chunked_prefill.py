"""Exercise 7.2: plan one step under a token budget.

`running` and `waiting` hold (name, pending): `pending` tokens of this request are not computed yet.
A running request that writes has pending 1. One that still reads its prompt has more. Running ones
stand in the order of their admission, waiting ones in the order of their arrival.

In one step at most `budget` tokens are computed, over all requests. Plan in this order:

1. running requests that need one token: nobody who writes shall wait for a prompt;
2. running requests that need more;
3. waiting requests, as long as a seat is free (at most max_num_seqs requests run).

Each gets as many tokens as it needs, or what is left of the budget: a long prompt is cut into
chunks. Nobody overtakes within 1, 2 and 3. A request that gets nothing is not in the plan.
Call the list `plan` (for `trace`).
"""


def plan_step(
    running: list[tuple[str, int]], waiting: list[tuple[str, int]], budget: int, max_num_seqs: int
) -> list[tuple[str, int]]:
    """The plan: (name, tokens to compute now), in the order above."""
    raise NotImplementedError("Exercise 7.2: those who write first, then chunks")
