"""x @ W^T on a CPU: which product for how many rows. Used through ops.linear."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

NARROW = 2560  # rows times in-features up to which W @ x^T was the fastest
WIDE = 200_000  # numbers of W from which oneDNN was faster than the default product
_ONEDNN = None  # not a public operation: where it is missing the default product runs
if torch.backends.mkldnn.is_available():
    _ONEDNN = getattr(torch.ops.mkldnn, "_linear_pointwise", None)


def linear(x_TI: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """x @ W^T + bias.

    The default product is made for many rows: with two it takes twice as long as with one, though
    both only have to read the weights. So a few rows on a CPU go another way.
    """
    rows, size = x_TI.shape[0], weight_OI.numel()
    if rows == 1 or x_TI.dim() != 2 or not _plain_fp32(x_TI, weight_OI):
        return F.linear(x_TI, weight_OI, bias_O)
    if rows <= 8 and rows * x_TI.shape[1] <= NARROW:
        out_TO = torch.mm(weight_OI, x_TI.t()).t().contiguous()
        return out_TO if bias_O is None else out_TO.add_(bias_O)
    if _ONEDNN is None or size < WIDE:
        return F.linear(x_TI, weight_OI, bias_O)
    return _ONEDNN(x_TI, weight_OI, bias_O, "none", [], "")


def _plain_fp32(x: Tensor, weight: Tensor) -> bool:
    """float32 on a CPU, rows of W one after another, nothing to differentiate."""
    fp32 = x.dtype == weight.dtype == torch.float32 and weight.is_contiguous()
    return fp32 and x.is_cpu and not torch.is_grad_enabled()
