"""x @ W^T on a CPU: which product for how many rows. Used through ops.linear."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

WIDE = 500_000  # numbers of W from which oneDNN was the fastest, except
NARROW = 2560  # for 2 to 4 rows, where W @ x^T was: up to so many rows times in-features
FEW, FEW_SHARED = 8, 32  # rows up to which it was for smaller matrices, on one core and on several
_MKL = torch.backends.mkl.is_available()  # whose product is the default where this was measured
_ONEDNN = None  # not a public operation: where it is missing the default product runs
if _MKL and torch.backends.mkldnn.is_available():
    _ONEDNN = getattr(torch.ops.mkldnn, "_linear_pointwise", None)
    _ONEDNN = getattr(_ONEDNN, "default", None)  # this overload, not looked for in every call


def linear(x_TI: Tensor, weight_OI: Tensor, bias_O: Tensor | None = None) -> Tensor:
    """x @ W^T + bias.

    MKL's product is made for many rows. For one it runs on a single core, which reads at half of
    the memory's speed; for two it takes twice as long, though both only have to read the weights.
    The borders above were measured on this project's CPU (AMD EPYC); without MKL the default runs.
    """
    if x_TI.dim() != 2 or not len(x_TI) or not _plain_fp32(x_TI, weight_OI):
        return F.linear(x_TI, weight_OI, bias_O)
    rows, columns = x_TI.shape
    if weight_OI.numel() >= WIDE:
        if not 2 <= rows <= 4 or rows * columns > NARROW:
            if _ONEDNN is None:
                return F.linear(x_TI, weight_OI, bias_O)
            return _ONEDNN(x_TI, weight_OI, bias_O, "none", [], "")
    elif rows > (FEW if torch.get_num_threads() == 1 else FEW_SHARED):
        return F.linear(x_TI, weight_OI, bias_O)
    out_TO = weight_first(x_TI, weight_OI)
    return out_TO if bias_O is None else out_TO.add_(bias_O)


def weight_first(x_TI: Tensor, weight_OI: Tensor) -> Tensor:
    """(W @ x^T)^T. One row is sent twice: a product with a vector would run on one core again."""
    if x_TI.shape[0] == 1:
        return torch.mm(weight_OI, torch.cat((x_TI, x_TI)).t()).t()[:1].contiguous()
    return torch.mm(weight_OI, x_TI.t()).t().contiguous()


def _plain_fp32(x: Tensor, weight: Tensor) -> bool:
    """float32 on a CPU with MKL, rows of W one after another, nothing to differentiate."""
    fp32 = x.dtype == weight.dtype == torch.float32 and weight.is_contiguous()
    return fp32 and x.is_cpu and _MKL and not torch.is_grad_enabled()
