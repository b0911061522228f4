"""Which weights go: exact counts, also where many weights are equal.

A mask is True where a weight STAYS. Of equal scores the weights with lower numbers go first. The
number that goes is sparsity times the weights it is counted over, rounded half up.
"""

from __future__ import annotations

import re

import torch
from torch import Tensor


def count_pruned(sparsity: float, weights: int) -> int:
    """How many of so many weights go."""
    return min(weights, int(sparsity * weights + 0.5))


def lowest(scores: Tensor, count: int) -> Tensor:
    """The mask that drops the `count` lowest scores of a tensor of any shape."""
    flat = scores.flatten()
    mask = torch.ones(flat.shape, dtype=torch.bool, device=flat.device)
    if count:
        border = flat.kthvalue(count).values
        mask[flat < border] = False
        equal = (flat == border).nonzero().flatten()
        mask[equal[: count - int((~mask).sum())]] = False
    return mask.view(scores.shape)


def lowest_of_rows(scores_NK: Tensor, count: int) -> Tensor:
    """The same count from every row."""
    order = scores_NK.argsort(dim=1, stable=True)[:, :count]
    return torch.ones_like(scores_NK, dtype=torch.bool).scatter_(1, order, False)


def lowest_of_groups(scores_NK: Tensor, pattern: tuple[int, int]) -> Tensor:
    """The pattern N:M: of every M neighbours in a row the N highest stay. M must divide K."""
    keep, size = pattern
    rows, columns = scores_NK.shape
    assert columns % size == 0, (columns, size)
    return lowest_of_rows(scores_NK.reshape(-1, size), size - keep).view(rows, columns)


def read_pattern(pattern: str | None) -> tuple[int, int] | None:
    """ "2:4" -> (2, 4): two of every four stay. ValueError with advice."""
    if pattern is None:
        return None
    found = re.fullmatch(r"(\d{1,2}):(\d{1,2})", pattern) if isinstance(pattern, str) else None
    keep, size = map(int, found.groups()) if found else (0, 0)
    if not 1 <= keep < size <= 32:
        raise ValueError(
            'pattern is "N:M", N of every M neighbours stay, 1 <= N < M <= 32, such as "2:4" or '
            f'"4:8"; got {pattern!r}'
        )
    return keep, size
