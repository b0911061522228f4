"""Other right answers of 6.10."""


def six_of_eight(num_blocks, block_size, free, refs, tables, lengths):
    """Each block is counted where it lies; room and copies are not looked at."""
    places = [0] * num_blocks
    for table in tables.values():
        for block in table:
            places[block] += 1
    for block, count in enumerate(places):
        assert count == refs[block]
        assert free.count(block) == (count == 0)


def by_owner_of_slots(num_blocks, block_size, free, refs, tables, lengths):
    """Also: no two requests with different lengths end in the same block."""
    everything = [block for table in tables.values() for block in table]
    if sorted(free) != sorted(set(range(num_blocks)) - set(everything)):
        raise AssertionError("free list")
    if any(everything.count(block) != refs[block] for block in set(everything)):
        raise AssertionError("counts")
    last = {}
    for request, length in lengths.items():
        if len(tables[request]) * block_size < length:
            raise AssertionError("room")
        block = tables[request][(length - 1) // block_size]
        if last.setdefault(block, length) != length and refs[block] > 1:
            raise AssertionError("two writers")
