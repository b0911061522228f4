"""Exercise 0.1: write rows into a pool, and read rows back.

`pool` is one large tensor. Row n is one place ("slot"). New rows do not go to the end: a list says
which row goes to which slot. Chapter 06 keeps the memory of many users in one pool like this.
"""

import torch
from torch import Tensor


def write_and_read(pool: Tensor, slots: Tensor, rows: Tensor, wanted: Tensor) -> Tensor:
    """Write rows[t] into pool[slots[t]], then return the rows `wanted` of the pool.

    Without a loop (a loop is right, but slow).
    pool: float [N, D], changed in place. slots: int64 [T], all different. rows: float [T, D].
    wanted: int64 [L], may name a slot twice. Returns float [L, D].
    """
    raise NotImplementedError("Exercise 0.1: write rows into the pool, then read others back")
