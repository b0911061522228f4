"""Reference of 0.1."""


def write_and_read(pool, slots, rows, wanted):
    pool[slots] = rows
    return pool[wanted]
