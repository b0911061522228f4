"""Reference of 7.7."""


class BlockCache:
    def __init__(self, num_blocks: int):
        self.free = list(range(num_blocks))
        self.holders = [0] * num_blocks
        self.block_of: dict[str, int] = {}
        self.name_of: dict[int, str] = {}

    def find(self, name: str) -> int | None:
        block = self.block_of.get(name)
        if block is None:
            return None
        if self.holders[block] == 0:
            self.free.remove(block)
        self.holders[block] += 1
        return block

    def allocate(self) -> int:
        block = self.free.pop(0)
        old = self.name_of.pop(block, None)
        if old is not None:
            del self.block_of[old]
        self.holders[block] = 1
        return block

    def seal(self, block: int, name: str) -> None:
        if name not in self.block_of and block not in self.name_of:
            self.block_of[name] = block
            self.name_of[block] = name

    def release(self, block: int) -> None:
        self.holders[block] -= 1
        if self.holders[block] == 0:
            self.free.append(block)
