"""Reference of 6.10: all eight."""

from collections import Counter


def check(num_blocks, block_size, free, refs, tables, lengths):
    holders = Counter(block for table in tables.values() for block in table)
    assert len(set(free)) == len(free), "a block is in the free list twice"
    for block in range(num_blocks):
        assert refs[block] == holders[block], f"block {block}: {refs[block]}, {holders[block]}"
        assert (block in free) == (holders[block] == 0), f"block {block}: free or in use?"
    for one, table in tables.items():
        assert len(table) * block_size >= lengths[one], f"{one} has no room for its tokens"
        for other, theirs in tables.items():  # a shared block: full in both, or equally filled
            for place, pair in enumerate(zip(table, theirs)):
                end = (place + 1) * block_size
                filled = {min(lengths[one], end), min(lengths[other], end)}
                assert pair[0] != pair[1] or len(filled) == 1, f"{one}, {other}: {pair[0]}"
