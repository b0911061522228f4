"""Exercise 6.1: a pool of blocks: give some away, take them back.

The memory for keys and values is cut into `num_blocks` equal blocks, numbered from 0. The pool
knows which ones are free. Two rules keep it sound:

- a block is never given away twice before it came back;
- a call does all of its work or nothing at all.
"""


class BlockPool:
    def __init__(self, num_blocks: int):
        """In the beginning all blocks are free."""
        raise NotImplementedError("Exercise 6.1: remember which blocks are free")

    def num_free(self) -> int:
        """How many blocks are free."""

    def allocate(self, count: int) -> list[int] | None:
        """`count` different free blocks, in any order; None if there are not that many."""

    def release(self, blocks: list[int]) -> None:
        """Take blocks back. Any that is not in use, or stands in the list twice: ValueError."""
