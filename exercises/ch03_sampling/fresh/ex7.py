"""Exercise 3.7: find the fault.

Users of one model complain: some answers do not end where they should. This is the code that
decides when to stop. Find the fault and mend it.

Three files of a model may name the tokens that end a text: config.json, generation_config.json and
the tokenizer's own. Each gives a whole number, a list of them, or nothing (None). A text ends at
ANY token that any of the three names. The end token is not part of the answer.
"""

from collections.abc import Callable


def as_list(ids: int | list[int] | None) -> list[int]:
    found = []
    for token in ids if isinstance(ids, list) else [ids]:
        if token is not None:
            found.append(token)
            return found
    return found


def write(
    next_token: Callable, prompt: list[int], max_tokens: int, config, generation, tokenizer
) -> list[int]:
    """next_token: list[int] -> int. The last three: what each file says. Returns new tokens."""
    end_ids = {*as_list(config), *as_list(generation), *as_list(tokenizer)}
    tokens = list(prompt)
    while len(tokens) < len(prompt) + max_tokens:
        token = next_token(tokens)
        if token in end_ids:
            break
        tokens.append(token)
    return tokens[len(prompt) :]
