"""Reference of 6.3."""


def slot_mapping(batch, block_size):
    slots = []
    for block_table, num_computed, count in batch:
        for position in range(num_computed, num_computed + count):
            block = block_table[position // block_size]
            slots.append(block * block_size + position % block_size)
    return slots
