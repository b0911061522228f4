"""Exercise 7.6: find the fault.

Users say: every answer is right. But a prompt that is sent a second time is hardly faster when it
is just a little longer than some blocks.

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
    shared = []
    for number in range(len(tokens) // block_size - 1):
        end = (number + 1) * block_size
        block = known.get(tuple(tokens[:end]))
        if block is None:
            break
        shared.append(block)
    return shared, tokens[len(shared) * block_size :]
