"""Exercise 3.1: the greedy loop.

The model is a plain function: `model(tokens)` takes the list of all T tokens so far and returns
logits of shape [T, V]. Row t holds the scores of the token that comes after token t.
Write at most `max_tokens` tokens. Each time take the likeliest one. Stop when it is in `end_ids`.

Return only the new tokens, without the end token. Leave the list `prompt` as it is.
Call the list of all tokens `tokens`, and the new ones `written`.
"""

from collections.abc import Callable


def write_greedy(model: Callable, prompt: list[int], max_tokens: int, end_ids: set) -> list[int]:
    """model: list[int] of length T -> float [T, V]. Returns a list of int."""
    raise NotImplementedError("Exercise 3.1: read, take the likeliest token, append it, again")
