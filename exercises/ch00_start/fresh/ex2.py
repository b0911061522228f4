"""Exercise 0.2: one scale for each row.

A matrix `weights` of shape [O, I] has O rows. Multiply row o by the number `scale[o]`.
Chapter 08 stores a weight as a small whole number and one scale a row: this is how it is read.
"""

import torch
from torch import Tensor


def scale_rows(weights: Tensor, scale: Tensor) -> Tensor:
    """weights: float [O, I]. scale: float [O]. Returns float [O, I].

    Without a loop (a loop is right, but slow).
    """
    raise NotImplementedError("Exercise 0.2: multiply each row by its own scale")
