"""Named wrong answers of 7.4."""


class _Text:
    """All right; each wrong answer changes one thing."""

    def __init__(self, prompt, max_tokens):
        self.tokens, self.num_prompt = prompt, len(prompt)
        self.max_tokens, self.num_computed = max_tokens, 0

    def finished(self):
        return len(self.tokens) - self.num_prompt >= self.max_tokens

    def next_piece(self, budget):
        return self.tokens[self.num_computed : self.num_computed + budget]

    def commit(self, count, pick):
        self.num_computed += count
        if self.num_computed == len(self.tokens):
            self.tokens.append(pick())

    def preempt(self):
        self.num_computed = 0


class taken_for_a_writing_one(_Text):
    """a preempted request that goes on with its last token, as if its K/V were still there"""

    def preempt(self):
        pass


class output_lost(_Text):
    """a preempted request that begins with its prompt again and loses what it had written"""

    def preempt(self):
        self.num_computed = 0
        del self.tokens[self.num_prompt :]


class prompt_believed_there(_Text):
    """computing again what was written, but not the prompt"""

    def preempt(self):
        self.num_computed = min(self.num_computed, self.num_prompt)


class output_not_computed_again(_Text):
    """computing the prompt again, but not what was written"""

    def preempt(self):
        self.num_computed, self.written = 0, len(self.tokens) - self.num_prompt

    def next_piece(self, budget):
        if self.num_computed < self.num_prompt:
            return self.tokens[: self.num_prompt][self.num_computed :][:budget]
        return super().next_piece(budget)

    def commit(self, count, pick):
        self.num_computed += count
        if self.num_computed == self.num_prompt and len(self.tokens) > self.num_prompt:
            self.num_computed = len(self.tokens) - 1
        elif self.num_computed == len(self.tokens):
            self.tokens.append(pick())


class samples_after_the_prompt(_Text):
    """a token sampled as soon as the prompt is computed, while written tokens are still missing"""

    def commit(self, count, pick):
        self.num_computed += count
        if self.num_computed >= self.num_prompt:
            self.tokens.append(pick())


class samples_after_every_piece(_Text):
    """a token sampled after every piece, also in the middle of the prompt"""

    def commit(self, count, pick):
        self.num_computed += count
        self.tokens.append(pick())


class output_counted_as_prompt(_Text):
    """what was written counted as prompt from then on: the answer gets too long"""

    def preempt(self):
        self.num_computed, self.num_prompt = 0, len(self.tokens)


class last_token_lost(_Text):
    """the last token thrown away (its K/V were not computed, but the user has read it)"""

    def preempt(self):
        self.num_computed = 0
        if len(self.tokens) > self.num_prompt:
            self.tokens.pop()


class draws_in_vain(_Text):
    """calling pick() after every piece and keeping the token only at the end"""

    def commit(self, count, pick):
        token = pick()
        super().commit(count, lambda: token)


class the_whole_rest_at_once(_Text):
    """pieces larger than the budget when a request begins again"""

    def preempt(self):
        super().preempt()
        self.again = True

    def next_piece(self, budget):
        return super().next_piece(999 if getattr(self, "again", False) else budget)


class count_ignored(_Text):
    """counting the whole piece as computed, not the `count` tokens that were"""

    def next_piece(self, budget):
        self.piece = super().next_piece(budget)
        return self.piece

    def commit(self, count, pick):
        super().commit(len(self.piece), pick)
