"""Exercise 14.1: the planner, short.

    weights     `count` numbers of `bits` bits; one scale of 2 bytes serves `group` of them
                (group None: no scales)
    token       K and V of one token: every layer keeps `kv_heads` keys and as many values, each
                of `head_size` numbers of `kv_bytes` bytes
    requests    how many requests of `context` tokens fit beside the weights. The cache is cut into
                blocks of `block_size` tokens, and no two requests share a block

`memory` is what the engine may use, in bytes: slack is taken off already. All results are ints.
`count` is a multiple of `group`.
"""


def plan(
    count: int, bits: int, group: int | None, layers: int, kv_heads: int, head_size: int,
    kv_bytes: int, context: int, block_size: int, memory: int,
) -> dict[str, int]:  # fmt: skip
    """{"weights": bytes, "token": bytes, "requests": whole requests, 0 if not one fits}.

    Call the three results weights, token and requests, and the blocks that fit blocks.
    """
    raise NotImplementedError("Exercise 14.1: bytes of weights, bytes of a token, whole requests")
