"""Other right mends of 7.8."""


class _Base:
    def __init__(self, num_blocks, block_size):
        self.num_blocks, self.block_size, self.free = num_blocks, block_size, num_blocks
        self.waiting, self.running = [], {}

    def step(self):
        while self.waiting and self.waiting[0][1] <= self.free:
            name, need, left = self.waiting.pop(0)
            self.free -= need
            self.running[name] = [need, left]
        finished = []
        for name, state in list(self.running.items()):
            state[1] -= 1
            if not state[1]:
                self.free += self.running.pop(name)[0]
                finished.append(name)
        return finished


class counts_tokens(_Base):
    def add(self, name, num_prompt, max_tokens):
        longest = num_prompt + max_tokens - 1
        if longest > self.num_blocks * self.block_size:
            raise ValueError(f"{name}: {longest} tokens do not fit into the pool")
        self.waiting.append((name, -(-longest // self.block_size), max_tokens))


class counts_what_is_held(_Base):
    """All blocks: the free ones and those that are held now."""

    def add(self, name, num_prompt, max_tokens):
        need = (num_prompt + max_tokens - 2) // self.block_size + 1
        if need > self.free + sum(blocks for blocks, _ in self.running.values()):
            raise ValueError(f"{name} can never fit")
        self.waiting += [(name, need, max_tokens)]
