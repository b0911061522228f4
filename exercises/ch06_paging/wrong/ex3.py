"""Named wrong answers of 6.3."""


def _each(batch):
    for table, start, count in batch:
        for position in range(start, start + count):
            yield table, start, position


def without_the_table(batch, block_size):
    """no block table: the tokens of a request lie where they would in a strip"""
    return [position for _, _, position in _each(batch)]


def divided_the_other_way(batch, block_size):
    """p % block_size as the place in the table, p // block_size as the offset"""
    found = [(t[p % block_size % len(t)], p // block_size) for t, _, p in _each(batch)]
    return [block * block_size + offset for block, offset in found]


def block_without_its_size(batch, block_size):
    """block + offset: a block number is taken for a slot number"""
    return [t[p // block_size] + p % block_size for t, _, p in _each(batch)]


def counted_from_the_first_new(batch, block_size):
    """positions that begin at 0 for the new tokens: num_computed is left out"""
    shifted = [(t, p - start) for t, start, p in _each(batch)]
    return [t[p // block_size] * block_size + p % block_size for t, p in shifted]


def one_slot_late(batch, block_size):
    """the slot behind: positions are counted from 1"""
    return [t[p // block_size] * block_size + p % block_size + 1 for t, _, p in _each(batch)]


def always_the_last_block(batch, block_size):
    """the table's last block for every new token"""
    return [t[-1] * block_size + p % block_size for t, _, p in _each(batch)]


def whole_position_added(batch, block_size):
    """the block's first slot plus the whole position (p, not p % block_size)"""
    return [t[p // block_size] * block_size + p for t, _, p in _each(batch)]


def one_list_a_request(batch, block_size):
    """one list for each request, not packed into one"""
    return [
        [t[p // block_size] * block_size + p % block_size for p in range(start, start + count)]
        for t, start, count in batch
    ]
