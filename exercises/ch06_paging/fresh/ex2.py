"""Exercise 6.2: share blocks, and copy one only when somebody writes to it.

Two samples of one prompt have the same beginning: they can use the same blocks. refs[b] counts the
tables that block b stands in. A block goes back to the free list when nobody needs it any more. A
block that several need must not be written to: whoever wants to write gets a copy first (copy on
write), and the others keep the old block.

Write the three methods. The pool is always large enough here.
"""


class SharedBlocks:
    def __init__(self, num_blocks: int, block_size: int):
        self.block_size = block_size  # tokens in a block
        self.free = list(range(num_blocks))
        self.refs = [0] * num_blocks
        self.tables = {}  # request -> its block ids, in the order of its tokens

    def _take(self) -> int:
        """A free block, for one user."""
        block = self.free.pop()
        self.refs[block] = 1
        return block

    def fork(self, request: str, copy: str) -> None:
        """A new request `copy` begins with all the blocks of `request`."""
        raise NotImplementedError("Exercise 6.2: the copy gets a table of its own, not new blocks")

    def write(self, request: str, position: int):
        """`request` is about to write its token number `position`. Positions come in order; a
        request begins with write(request, 0). Return (old, new) if a block must be copied, the
        table names the new one then; otherwise None."""

    def release(self, request: str) -> None:
        """`request` has ended."""
        raise NotImplementedError("Exercise 6.2: one user less for each of its blocks")
