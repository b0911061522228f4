"""Exercise 7.6: find the fault.

Users say: every answer is right. But the engine's own check complains now and then, just after a
prompt was sent a second time: a block was written that another request still reads.

`admit` starts a request. It looks for the longest beginning of its tokens that is in the cache, in
whole blocks, and shares those blocks. All other tokens must be computed; their keys and values go
into new blocks of this request, never into a shared one.

`known` says which block holds the end of which beginning: {tuple of all tokens up to the end of
the block: block id}. (A real engine has a hash in place of the tuple.) Find the fault and mend it.
Share as much as is possible.
"""


def admit(
    tokens: list[int], known: dict[tuple[int, ...], int], block_size: int
) -> tuple[list[int], list[int]]:
    """Returns (ids of the shared blocks, tokens that must be computed)."""
    shared, start = [], 0
    while start + block_size <= len(tokens):
        block = known.get(tuple(tokens[: start + block_size]))
        if block is None:
            break
        shared.append(block)
        start += block_size
    start = min(start, len(tokens) - 1)
    return shared, tokens[start:]
