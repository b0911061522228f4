"""Named wrong answers of 0.1."""


def new_pool(pool, slots, rows, wanted):
    """writing into a copy: the pool itself stays as it was"""
    copy = pool.clone()
    copy[slots] = rows
    return copy[wanted]


def first_rows(pool, slots, rows, wanted):
    """writing into the first T slots, whatever the list says"""
    pool[: rows.shape[0]] = rows
    return pool[wanted]


def adds(pool, slots, rows, wanted):
    """adding to what the slots held before"""
    pool[slots] += rows
    return pool[wanted]


def slots_as_source(pool, slots, rows, wanted):
    """the list the wrong way round: slot n gets row number slots[n]"""
    for place, slot in enumerate(slots.tolist()):
        pool[place] = rows[slot % rows.shape[0]]
    return pool[wanted]


def reads_first(pool, slots, rows, wanted):
    """reading before writing"""
    read = pool[wanted]
    pool[slots] = rows
    return read


def into_an_index(pool, slots, rows, wanted):
    """writing into pool[slots][:]: pool[slots] is a copy, so the pool stays as it was"""
    pool[slots][:] = rows
    return pool[wanted]
