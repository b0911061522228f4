"""Exercise 14.5: who is next? Write the rule for the queue.

More requests come than four seats of the paper GPU can serve at once (Qwen3-0.6B, 16 bit). Most
answers are short (4 to 23 tokens), one in 20 is long (200 to 399). The engine's own rule is first
come, first served: when long ones hold the seats, many short ones wait behind them.

Before every step the scheduler asks your function for a number for every waiting request; who has
the smallest starts first. Nobody who runs is stopped. A request is a dict:

    arrival     second at which it came; who comes right now has waited 0 s
    prompt      tokens to read
    answer      most tokens it may write (its max_tokens)

Two figures are compared with first come, first served on the same 120 requests:

    p95 of the time to the first token     at most 0.8 times as much
    longest time to the first token        at most 1.25 times as much: nobody starves
"""


def policy(request: dict, now: float) -> float:
    """A number for a waiting request at the second `now`: the smallest goes first."""
    raise NotImplementedError("Exercise 14.5: short ones first, but nobody waits for ever")
