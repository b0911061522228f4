"""Other right answers of 7.4."""


class a_queue_of_missing_tokens:
    def __init__(self, prompt, max_tokens):
        self.tokens, self.end, self.missing = prompt, len(prompt) + max_tokens, list(prompt)

    def finished(self):
        return len(self.tokens) == self.end

    def next_piece(self, budget):
        return self.missing[:budget]

    def commit(self, count, pick):
        del self.missing[:count]
        if not self.missing:
            self.missing = [pick()]
            self.tokens += self.missing

    def preempt(self):
        self.missing = list(self.tokens)


class output_apart:
    def __init__(self, prompt, max_tokens):
        self.prompt, self.output, self.max_tokens, self.done = prompt, [], max_tokens, 0

    @property
    def tokens(self):
        return self.prompt + self.output

    def finished(self):
        return len(self.output) == self.max_tokens

    def next_piece(self, budget):
        end = min(self.done + budget, len(self.tokens))
        return [self.tokens[i] for i in range(self.done, end)]

    def commit(self, count, pick):
        self.done += count
        if self.done >= len(self.prompt) + len(self.output):
            self.output = [*self.output, pick()]

    def preempt(self):
        self.done -= self.done
