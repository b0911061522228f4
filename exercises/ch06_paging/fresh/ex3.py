"""Exercise 6.3: where in the pool does each new token go?

The pool is one long row of slots. Block b owns the slots b * block_size to
b * block_size + block_size - 1. Token number p of a request (counted from 0) lies in the block that
its table names at place p // block_size.

A step brings new tokens of several requests, packed one request after another. For each request
you get (block_table, num_computed, count): it has num_computed tokens already, and `count` new ones
come behind them. Return the slot of every new token, in this order.

Names for `trace` (each holds its last value there): `p`, the number of a token; `block`, the block
that it lies in; `slots`, the result.
"""


def slot_mapping(batch: list[tuple[list[int], int, int]], block_size: int) -> list[int]:
    raise NotImplementedError("Exercise 6.3: for each new token its block, then its slot")
