"""Exercise 1.7: how many users fit?

The memory of a GPU holds three things: the weights, the **keys and values** that every token of
every user leaves behind (chapter 04), and some slack for everything else. A user here has `length`
tokens. Memory is sold in GiB: 1 GiB is 2^30 bytes.
"""

import math


def largest_batch(
    memory_gib: float, weight_bytes: int, kv_bytes_per_token: int, length: int, slack: float
) -> int:
    """The largest number of users whose keys and values fit; 0 if not even one does.

    slack: the share of the whole memory that nothing may use, for example 0.1.
    Call the bytes that are left for keys and values free.
    """
    raise NotImplementedError("Exercise 1.7: whole users in what weights and slack leave free")
