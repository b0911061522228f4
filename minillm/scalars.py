"""Numbers as tensors, made once.

x * 2.0 makes a tensor of 2.0 in every call and looks for a common dtype, which costs more than the
operation itself where x is one row of a small model.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor


@lru_cache(maxsize=256)
def scalar(value: float, dtype: torch.dtype = torch.float32, device: str = "cpu") -> Tensor:
    """The number as a tensor of shape []; shared, so never to be written to."""
    with torch.inference_mode(False):  # kept: it may meet a step with gradients later
        return torch.tensor(value, dtype=dtype, device=device)
