"""Exercise 7.7: find the fault.

Users say: "my answer suddenly speaks of somebody else's matters". It happens on busy days
only, and never to the first who asks.

`BlockCache` gives blocks to requests. A block that is full gets a name (the hash of 7.1). When its
request has ended the block is free, but keeps its content and its name as long as nobody needs it:
the next request with this beginning finds it. If a new block is needed, the one that has been free
for longest is taken, and its content is written over. Find the fault and mend it. What can still be
found must be found.
"""


class BlockCache:
    def __init__(self, num_blocks: int):
        self.free = list(range(num_blocks))  # the one that is free for longest first
        self.holders = [0] * num_blocks  # requests that use a block now
        self.block_of: dict[str, int] = {}
        self.name_of: dict[int, str] = {}

    def find(self, name: str) -> int | None:
        """The block with this name, for one more request; None if there is none."""
        block = self.block_of.get(name)
        if block is None:
            return None
        if self.holders[block] == 0:
            self.free.remove(block)
        self.holders[block] += 1
        return block

    def allocate(self) -> int:
        """A block for one request, to be written."""
        block = self.free.pop(0)
        self.name_of.pop(block, None)
        self.block_of.pop(block, None)
        self.holders[block] = 1
        return block

    def seal(self, block: int, name: str) -> None:
        """The block is full and computed. A name that is there already stays where it is."""
        if name not in self.block_of and block not in self.name_of:
            self.block_of[name] = block
            self.name_of[block] = name

    def release(self, block: int) -> None:
        """One request less."""
        self.holders[block] -= 1
        if self.holders[block] == 0:
            self.free.append(block)
