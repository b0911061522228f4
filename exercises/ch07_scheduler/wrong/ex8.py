"""False mends of 7.8."""

from collections import deque


class _Right:
    """Mended; each false mend changes one thing."""

    def __init__(self, num_blocks, block_size):
        self.num_blocks, self.block_size, self.free = num_blocks, block_size, num_blocks
        self.waiting, self.running = deque(), {}

    def blocks_for(self, num_prompt, max_tokens):
        return -(-(num_prompt + max_tokens - 1) // self.block_size)

    def add(self, name, num_prompt, max_tokens):
        need = self.blocks_for(num_prompt, max_tokens)
        if need > self.num_blocks:
            raise ValueError(f"{name} needs {need} blocks, there are {self.num_blocks}")
        self.waiting.append((name, need, max_tokens))

    def _queue(self, name, num_prompt, max_tokens):
        self.waiting.append((name, self.blocks_for(num_prompt, max_tokens), max_tokens))

    def _admit(self):
        while self.waiting and self.waiting[0][1] <= self.free:
            self._start(self.waiting.popleft())

    def _start(self, item):
        name, need, left = item
        self.free -= need
        self.running[name] = [need, left]

    def step(self):
        self._admit()
        for state in self.running.values():
            state[1] -= 1
        finished = [name for name, (_, left) in self.running.items() if left == 0]
        for name in finished:
            self.free += self.running.pop(name)[0]
        return finished


class jumped_over(_Right):
    """whoever does not fit is jumped over: it stays in the queue for ever, and is never told"""

    def add(self, name, num_prompt, max_tokens):
        self._queue(name, num_prompt, max_tokens)

    def _admit(self):
        for item in list(self.waiting):
            if item[1] <= self.free:
                self.waiting.remove(item)
                self._start(item)


class refused_when_its_turn_comes(_Right):
    """an error in `step`, where it stops everybody"""

    def add(self, name, num_prompt, max_tokens):
        self._queue(name, num_prompt, max_tokens)

    def _admit(self):
        super()._admit()
        if self.waiting and self.waiting[0][1] > self.num_blocks:
            raise ValueError(f"{self.waiting[0][0]} does not fit")


class dropped_in_silence(_Right):
    """a request that cannot fit dropped without a word: its user waits for ever"""

    def add(self, name, num_prompt, max_tokens):
        if self.blocks_for(num_prompt, max_tokens) <= self.num_blocks:
            self._queue(name, num_prompt, max_tokens)


class one_token_too_many(_Right):
    """a place counted for the last token, too: what just fits is refused"""

    def add(self, name, num_prompt, max_tokens):
        if -(-(num_prompt + max_tokens) // self.block_size) > self.num_blocks:
            raise ValueError(f"{name} does not fit")
        self._queue(name, num_prompt, max_tokens)


class compared_with_the_free_ones(_Right):
    """compared with the blocks that are free now: what only has to wait is refused"""

    def add(self, name, num_prompt, max_tokens):
        if self.blocks_for(num_prompt, max_tokens) > self.free:
            raise ValueError(f"{name} does not fit")
        self._queue(name, num_prompt, max_tokens)


class prompt_alone(_Right):
    """only the prompt compared with the pool, without what will be written"""

    def add(self, name, num_prompt, max_tokens):
        if self.blocks_for(num_prompt, 1) > self.num_blocks:
            raise ValueError(f"{name} does not fit")
        self._queue(name, num_prompt, max_tokens)


class rounded_down(_Right):
    """blocks rounded down: one token more than the pool holds is let in, and never runs"""

    def add(self, name, num_prompt, max_tokens):
        if (num_prompt + max_tokens - 1) // self.block_size > self.num_blocks:
            raise ValueError(f"{name} does not fit")
        self._queue(name, num_prompt, max_tokens)
