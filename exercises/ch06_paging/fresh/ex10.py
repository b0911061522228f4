"""Exercise 6.10: write the check that finds broken allocators.

You get the state of a block allocator after each of its operations. Raise AssertionError as soon
as something is wrong with it (a plain `assert` does). The grader runs your check on 8 allocators,
each with another fault, and on some sound ones. Catch at least 6 of the 8, and never complain about
a sound one.

    num_blocks, block_size   blocks 0 .. num_blocks - 1, block_size tokens each
    free                     the list of free blocks, in any order
    refs                     refs[b]: how many tables block b stands in
    tables                   {request: its block ids, in the order of its tokens}
    lengths                  {request: how many tokens it has}

Sound allocators may share blocks: a fork begins with the blocks of the original. Who writes to a
shared block gets a copy first. A table may be longer than its tokens need: some reserve ahead.

The check below is from an engine. It finds little.
"""


def check(num_blocks: int, block_size: int, free: list, refs: list, tables: dict, lengths: dict):
    assert len(refs) == num_blocks
    assert min(refs) >= 0
    for request, table in tables.items():
        assert request in lengths, f"{request} has blocks but no length"
        for block in table:
            assert 0 <= block < num_blocks, f"block {block}"
