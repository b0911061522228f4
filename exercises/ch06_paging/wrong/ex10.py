"""Named wrong answers of 6.10."""

from collections import Counter


def _holders(tables):
    return Counter(block for table in tables.values() for block in table)


def counts_blocks_only(num_blocks, block_size, free, refs, tables, lengths):
    """only the numbers: free + used = all. A block lost here and doubled there goes unseen"""
    assert len(free) + sum(n > 0 for n in refs) == num_blocks


def looks_at_free_only(num_blocks, block_size, free, refs, tables, lengths):
    """only the free list: no block twice, none that a table holds"""
    assert len(set(free)) == len(free)
    assert not set(free) & set(_holders(tables))


def looks_at_counts_only(num_blocks, block_size, free, refs, tables, lengths):
    """only the reference counts against the tables"""
    assert all(refs[b] == _holders(tables)[b] for b in range(num_blocks))


def forbids_sharing(num_blocks, block_size, free, refs, tables, lengths):
    """no block in two tables: it complains about sound allocators, which share"""
    holders = _holders(tables)
    assert all(count == 1 for count in holders.values())
    assert sorted([*free, *holders]) == list(range(num_blocks))
    assert all(refs[b] == holders[b] for b in range(num_blocks))


def forbids_reserving(num_blocks, block_size, free, refs, tables, lengths):
    """tables exactly as long as the tokens need: it complains about one that reserves ahead"""
    holders = _holders(tables)
    assert sorted([*free, *holders]) == list(range(num_blocks))
    assert all(refs[b] == holders[b] for b in range(num_blocks))
    assert all(len(t) == -(-lengths[r] // block_size) for r, t in tables.items())


def wants_a_free_block(num_blocks, block_size, free, refs, tables, lengths):
    """a free block at all times: it complains about a pool that is full"""
    holders = _holders(tables)
    assert free and sorted([*free, *holders]) == list(range(num_blocks))
    assert all(refs[b] == holders[b] for b in range(num_blocks))


def allows_two_ahead(num_blocks, block_size, free, refs, tables, lengths):
    """at most two blocks reserved ahead: it complains about one that reserves more"""
    holders = _holders(tables)
    assert sorted([*free, *holders]) == list(range(num_blocks))
    assert all(refs[b] == holders[b] for b in range(num_blocks))
    assert all(len(t) * block_size <= lengths[r] + 2 * block_size for r, t in tables.items())


def wants_an_order(num_blocks, block_size, free, refs, tables, lengths):
    """a free list in rising order: sound allocators keep any order"""
    holders = _holders(tables)
    assert free + sorted(holders) == [b for b in range(num_blocks) if b not in holders] + sorted(
        holders
    )
    assert all(refs[b] == holders[b] for b in range(num_blocks))


def always_complains(num_blocks, block_size, free, refs, tables, lengths):
    """complaining about everything catches every fault, and every sound allocator"""
    raise AssertionError("something is wrong")
