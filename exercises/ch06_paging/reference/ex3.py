"""Reference of 6.3."""


def slot_mapping(batch, block_size):
    slots = []
    for block_table, num_computed, count in batch:
        for p in range(num_computed, num_computed + count):
            block = block_table[p // block_size]
            slots.append(block * block_size + p % block_size)
    return slots
