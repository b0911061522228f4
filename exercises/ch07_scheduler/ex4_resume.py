"""Exercise 7.4: begin again and lose nothing.

A request only has to catch up: its K/V (num_computed tokens) towards its text (tokens). A step
computes the next piece of what is missing. When all is computed, the next token is sampled.

A preempted request gives its blocks back: no K/V of it is left. It keeps its text, also what it has
written already: the user has read that. Later it computes everything again and writes on, as if
nothing had happened. Write three methods, each of one to three lines:

    next_piece(budget)     the tokens to compute now: at most `budget` of those that are missing
    commit(count, pick)    `count` tokens were computed: the piece, or only its beginning (others
                           needed room). If the request has caught up, pick() samples the next
                           token: append it. Call pick() only then: each call draws from the
                           request's random generator.
    preempt()              the blocks are gone
"""


class Text:
    def __init__(self, prompt: list[int], max_tokens: int):
        self.tokens, self.num_prompt = prompt, len(prompt)
        self.max_tokens, self.num_computed = max_tokens, 0

    def finished(self) -> bool:
        return len(self.tokens) - self.num_prompt >= self.max_tokens

    def next_piece(self, budget: int) -> list[int]:
        raise NotImplementedError("Exercise 7.4: the next missing tokens")

    def commit(self, count: int, pick) -> None:
        raise NotImplementedError("Exercise 7.4: count, and sample if nothing is missing")

    def preempt(self) -> None:
        raise NotImplementedError("Exercise 7.4: what is lost, and what is not?")
