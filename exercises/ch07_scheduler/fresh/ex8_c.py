"""Exercise 7.8: find the fault.

Users say: one morning nobody gets an answer any more. The engine is alive, the pool is empty, the
queue is long. A restart helps until the same customer comes back.

`Queue` is a scheduler with one rule: first come, first served. A request takes all the blocks that
it may ever need when it is admitted, and gives them back when it has finished. In every step each
running request writes one token. If the first one in the queue does not fit now, it waits, and so
do those behind it: nobody overtakes.

What can never fit must be refused at once: `add` raises a ValueError that says why. Nothing else
may be refused. Find the fault and mend it.
"""

from collections import deque


class Queue:
    def __init__(self, num_blocks: int, block_size: int):
        self.num_blocks, self.block_size = num_blocks, block_size
        self.free = num_blocks
        self.waiting: deque[tuple[str, int, int]] = deque()  # name, blocks, tokens to write
        self.running: dict[str, list[int]] = {}  # name: [blocks, tokens still to write]

    def blocks_for(self, num_prompt: int, max_tokens: int) -> int:
        """Blocks needed at most: the last token written is never read, it needs no place."""
        return -(-(num_prompt + max_tokens - 1) // self.block_size)

    def add(self, name: str, num_prompt: int, max_tokens: int) -> None:
        need = self.blocks_for(num_prompt, max_tokens)
        if self.blocks_for(num_prompt, 1) > self.num_blocks:
            raise ValueError(f"{name} needs {need} blocks, there are {self.num_blocks}: shorten it")
        self.waiting.append((name, need, max_tokens))

    def step(self) -> list[str]:
        """Admit who fits, write one token each, return the names of those that finished."""
        while self.waiting and self.waiting[0][1] <= self.free:
            name, need, max_tokens = self.waiting.popleft()
            self.free -= need
            self.running[name] = [need, max_tokens]
        for state in self.running.values():
            state[1] -= 1
        finished = [name for name, (_, left) in self.running.items() if left == 0]
        for name in finished:
            self.free += self.running.pop(name)[0]
        return finished
