"""Which request holds which blocks of the K/V pool. Integers only: no tensor is touched here.

PagedAttention (Kwon et al. 2023): the pool is cut into blocks of `block_size` tokens, a request
owns a list of block ids, its block table. A block can be shared: `refs` counts its holders. A full
block is named by a hash of everything up to its end, so a later request with the same beginning
finds it (prefix caching); a block nobody holds keeps its content until it is needed again, the one
unused for longest first.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field


@dataclass
class Holding:
    """What one request holds: its block table, and the hash chain of its sealed blocks."""

    table: list[int] = field(default_factory=list)
    hashes: list[bytes] = field(default_factory=list)  # of the first len(hashes) blocks


class BlockManager:
    """The owner of all block ids. Requests are known by any hashable id.

    A request appears with `match` and disappears with `release`. `grow` either gives all that is
    asked for or changes nothing.
    """

    def __init__(self, num_blocks: int, block_size: int, prefix_caching: bool = True):
        if num_blocks < 1 or block_size < 1:
            raise ValueError(f"num_blocks={num_blocks}, block_size={block_size}: both at least 1")
        self.num_blocks, self.block_size = num_blocks, block_size
        self.prefix_caching = prefix_caching
        self.clear()

    def clear(self) -> None:
        """Begin again: nobody holds anything, nothing is cached."""
        num_blocks = self.num_blocks
        self.refs = [0] * num_blocks
        self.free = OrderedDict.fromkeys(range(num_blocks))  # next to be given away first
        self.holdings: dict[Hashable, Holding] = {}
        self.block_of: dict[bytes, int] = {}  # hash -> block that holds this content
        self.hash_of: dict[int, bytes] = {}  # and back

    @property
    def num_free(self) -> int:
        """Blocks nobody holds, with or without cached content."""
        return len(self.free)

    def blocks_for(self, num_tokens: int) -> int:
        """Blocks that `num_tokens` tokens occupy."""
        return -(-num_tokens // self.block_size)

    def table(self, request: Hashable) -> list[int]:
        """The block table of a request (not a copy: read only)."""
        return self.holdings[request].table

    def match(self, request: Hashable, tokens: Sequence[int], extras: Hashable = ()) -> int:
        """Start a request: share the longest cached beginning -> number of tokens it saves.

        Never all tokens: the last one must be computed, its logits are wanted. extras: what else
        decides K and V (an adapter, an image); equal tokens with other extras do not match.
        """
        assert request not in self.holdings, f"{request!r} holds blocks already"
        held = self.holdings[request] = Holding()
        if not self.prefix_caching:
            return 0
        parent = _root(extras)
        for start in range(0, len(tokens) - self.block_size, self.block_size):
            parent = _chain(parent, tokens[start : start + self.block_size])
            block = self.block_of.get(parent)
            if block is None:
                break
            self._take(block)
            held.table.append(block)
            held.hashes.append(parent)
        return len(held.table) * self.block_size

    def grow(self, request: Hashable, num_computed: int, num_tokens: int):
        """Make room for tokens num_computed .. num_tokens - 1 -> copies [(from, to)], or None.

        None: the pool cannot give that many blocks, and nothing has changed. A shared block that
        is about to be written is copied first (copy on write): the caller copies its K and V.
        """
        held, first = self.holdings[request], num_computed // self.block_size
        assert len(held.hashes) <= first, f"token {num_computed} lies in a sealed block"
        table = held.table
        shared = [i for i in range(first, len(table)) if self.refs[table[i]] > 1]
        new = max(self.blocks_for(num_tokens) - len(table), 0)
        if new + len(shared) > len(self.free):
            return None
        copies = []
        for place in shared:
            old, table[place] = table[place], self._allocate()
            self.refs[old] -= 1
            copies.append((old, table[place]))
        table.extend(self._allocate() for _ in range(new))
        return copies

    def seal(self, request: Hashable, tokens: Sequence[int], num_computed: int, extras=()) -> None:
        """Name the blocks that are full and computed, so that others can find them.

        Only after the step that computed them has run. Content that is known already keeps the
        block that was first.
        """
        if not self.prefix_caching:
            return
        held = self.holdings[request]
        for place in range(len(held.hashes), num_computed // self.block_size):
            parent = held.hashes[-1] if held.hashes else _root(extras)
            start = place * self.block_size
            name = _chain(parent, tokens[start : start + self.block_size])
            held.hashes.append(name)
            block = held.table[place]
            if name not in self.block_of and block not in self.hash_of:
                self.block_of[name], self.hash_of[block] = block, name

    def fork(self, request: Hashable, copy: Hashable, num_tokens: int) -> None:
        """Let `copy` share the blocks of the first num_tokens tokens (samples of one prompt)."""
        assert copy not in self.holdings, f"{copy!r} holds blocks already"
        held = self.holdings[request]
        shared = held.table[: self.blocks_for(num_tokens)]
        for block in shared:
            self._take(block)
        self.holdings[copy] = Holding(shared, held.hashes[: num_tokens // self.block_size])

    def release(self, request: Hashable) -> None:
        """End a request, tail first: the beginning of a text is the part others share."""
        assert request in self.holdings, f"{request!r} holds nothing: released twice?"
        for block in reversed(self.holdings.pop(request).table):
            self.refs[block] -= 1
            if self.refs[block] == 0:
                self.free[block] = None  # at the end: unused for the shortest time
                if block not in self.hash_of:
                    self.free.move_to_end(block, last=False)  # nothing to keep: use it first

    def forget(self) -> None:
        """Drop all cached content that nobody holds, and all names (new weights, for example)."""
        self.block_of.clear()
        self.hash_of.clear()

    def _take(self, block: int) -> None:
        if self.refs[block] == 0:
            del self.free[block]
        self.refs[block] += 1

    def _allocate(self) -> int:
        block, _ = self.free.popitem(last=False)
        name = self.hash_of.pop(block, None)
        if name is not None:
            del self.block_of[name]
        self.refs[block] = 1
        return block

    def check(self) -> None:
        """Assert every invariant; cheap enough to run after each step of a test."""
        holders = Counter(b for held in self.holdings.values() for b in held.table)
        for request, held in self.holdings.items():
            assert len(set(held.table)) == len(held.table), f"{request!r} holds a block twice"
            assert len(held.hashes) <= len(held.table), f"{request!r} has more hashes than blocks"
        for block in range(self.num_blocks):
            assert self.refs[block] == holders[block], (
                f"block {block}: {self.refs[block]} references, {holders[block]} holders"
            )
            assert (block in self.free) == (self.refs[block] == 0), f"block {block}: free or held?"
        assert sum(r > 0 for r in self.refs) + len(self.free) == self.num_blocks
        assert len(self.block_of) == len(self.hash_of)
        for name, block in self.block_of.items():
            assert self.hash_of[block] == name, f"block {block} has another name"


def _root(extras: Hashable) -> bytes:
    """Parent of a first block. hashlib, not hash(): equal in every process, and no collisions."""
    return hashlib.blake2b(repr(extras).encode(), digest_size=16).digest()


def _chain(parent: bytes, tokens: Sequence[int]) -> bytes:
    """Name of a block: its parent's name and its own tokens, so equal names mean equal texts."""
    return hashlib.blake2b(parent + array("q", tokens).tobytes(), digest_size=16).digest()
