"""Other right answers of 6.3."""


def all_slots_then_cut(batch, block_size):
    found = []
    for table, start, count in batch:
        slots = [block * block_size + i for block in table for i in range(block_size)]
        found += slots[start : start + count]
    return found


def with_divmod(batch, block_size):
    places = [(t, divmod(s + i, block_size)) for t, s, n in batch for i in range(n)]
    return [block_size * table[place] + offset for table, (place, offset) in places]
