"""Reference of 7.4."""


class Text:
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
