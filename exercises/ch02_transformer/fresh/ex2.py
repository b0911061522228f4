"""Exercise 2.2: RoPE, one pair by hand, then all.

A head has K numbers: K/2 pairs (K is even). Pair i is (a, b) = (x[i], x[i + K/2]): one number from
the first half, its partner from the second. At position p turn pair i by an angle:

    angle = p * theta ** (-2 * i / K)            i = 0, 1, ..., K/2 - 1
    new a = a * cos(angle) - b * sin(angle)
    new b = b * cos(angle) + a * sin(angle)

Start with K = 2: there is one pair, and its angle is the position itself. (1, 0) at position 1
becomes (cos 1, sin 1) = (0.540, 0.841). Then do all pairs, heads and tokens at once.
"""

import torch
from torch import Tensor


def rope(x_THK: Tensor, pos_T: Tensor, theta: float) -> Tensor:
    """x_THK: float32 [T, H, K]. pos_T: int64 [T], any positions. Returns float32 [T, H, K].

    Names that `trace` looks at: freq_k (angle a step of each pair, [K/2]), angle_Tk ([T, K/2]),
    cos_T1k and sin_T1k ([T, 1, K/2]), a_THk and b_THk (the halves of x, [T, H, K/2]).
    All heads turn by the same angles.
    """
    raise NotImplementedError("Exercise 2.2: turn every pair by its angle")
