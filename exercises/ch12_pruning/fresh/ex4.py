"""Exercise 12.4: 2:4, two of every four, and what is stored.

Four neighbours of a row are a group: columns 0-3, 4-7, ... Each group keeps exactly two weights.
Then K/2 values are stored, and for each its place in its group: 0, 1, 2 or 3, so 2 bits.

1. keep: the mask. Of each group the two smallest |w| are dropped; of equally small ones the one
   further left first. True where a weight stays.
2. pack: the values that `keep` keeps (one of them may itself be 0), from left to right, [N, K/2],
   and their places: four in a byte, the first one in the lowest 2 bits. If the last byte of a row
   has free places, they are 0.
3. unpack: the matrix [N, K] from values and bytes, with zeros elsewhere.

keep and pack raise ValueError if K is no multiple of 4.
"""

import torch
from torch import Tensor


class TwoOfFour:
    def keep(self, weight_NK: Tensor) -> Tensor:
        """float32 [N, K] -> bool [N, K]."""
        raise NotImplementedError("Exercise 12.4: two of every four")

    def pack(self, weight_NK: Tensor) -> tuple[Tensor, Tensor]:
        """float32 [N, K] -> values, float32 [N, K/2]; bytes, uint8 [N, ceil(K/8)]."""
        raise NotImplementedError("Exercise 12.4: values, and four places in a byte")

    def unpack(self, value_NV: Tensor, bytes_NB: Tensor) -> Tensor:
        """float32 [N, K/2] and uint8 [N, ceil(K/8)] -> float32 [N, K]."""
        raise NotImplementedError("Exercise 12.4: every value back to its place")
