"""Reference of 7.8."""

from collections import deque


class Queue:
    def __init__(self, num_blocks: int, block_size: int):
        self.num_blocks, self.block_size = num_blocks, block_size
        self.free = num_blocks
        self.waiting: deque[tuple[str, int, int]] = deque()
        self.running: dict[str, list[int]] = {}

    def blocks_for(self, num_prompt: int, max_tokens: int) -> int:
        return -(-(num_prompt + max_tokens - 1) // self.block_size)

    def add(self, name: str, num_prompt: int, max_tokens: int) -> None:
        need = self.blocks_for(num_prompt, max_tokens)
        if need > self.num_blocks:
            raise ValueError(f"{name} needs {need} blocks, there are {self.num_blocks}: shorten it")
        self.waiting.append((name, need, max_tokens))

    def step(self) -> list[str]:
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
