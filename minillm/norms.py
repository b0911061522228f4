"""RMSNorm in plain PyTorch, with as few small operations as it takes. Used through ops.

A step of a small model, or of a packed one, spends as long on such operations as on its products.
"""

from __future__ import annotations

import torch
from torch import Tensor

from minillm.scalars import scalar

WIDE = (torch.float32, torch.float64)


def at_least_fp32(x: Tensor) -> Tensor:
    """Widen 16-bit tensors; leave float32 and float64 alone."""
    return x if x.dtype in WIDE else x.float()


def plain_rms_norm(x_TD: Tensor, weight_D: Tensor, eps: float, plus_one: bool = False) -> Tensor:
    """The twin of kernels/rms_norm.py: x / sqrt(mean(x^2) + eps) * weight, or * (1 + weight)."""
    wide_TD = at_least_fp32(x_TD)
    unit_TD = wide_TD * _inverse_length(wide_TD, eps)
    if plus_one:
        return torch.addcmul(unit_TD, unit_TD, at_least_fp32(weight_D)).to(x_TD.dtype)
    return unit_TD.to(x_TD.dtype) * weight_D


def rms_norm_row(x_1D: Tensor, weight_D: Tensor, eps: float, plus_one: bool) -> Tensor:
    """The same for one row of float32 or float64: its scale is a plain number, not a tensor.

    Not on a GPU, where reading a number back makes the processor wait.
    """
    x_D = x_1D[0]
    scale = (x_D.dot(x_D).item() / x_D.shape[0] + eps) ** -0.5
    if plus_one:
        x_1D, weight_D = torch.addcmul(x_1D, x_1D, weight_D), scalar(1.0, x_1D.dtype)
    return torch.addcmul(scalar(0.0, x_1D.dtype), x_1D, weight_D, value=scale)


def plain_norm_heads(qk_THK: Tensor, q_norm, k_norm, num_heads: int) -> Tensor:
    """The first num_heads vectors of each token by q_norm, the rest by k_norm -> [T, H + G, K].

    One pass for both, and no copy to put them together. For float32 and float64 on a CPU, without
    gradients.
    """
    unit_THK = qk_THK * _inverse_length(qk_THK, q_norm.eps)
    for part, norm in (unit_THK[:, :num_heads], q_norm), (unit_THK[:, num_heads:], k_norm):
        if norm.plus_one:
            part.addcmul_(part, norm.weight)
        else:
            part.mul_(norm.weight)
    return unit_THK


def may_join(q_norm, k_norm) -> bool:
    """Whether both are the model's own norms, with one eps, and nobody has hung a hook on them."""
    own = type(q_norm) is type(k_norm) and type(q_norm).__module__ == "minillm.model"
    if not own or q_norm.eps != k_norm.eps:
        return False
    hooks = q_norm._forward_hooks or q_norm._forward_pre_hooks
    return not (hooks or k_norm._forward_hooks or k_norm._forward_pre_hooks)


def is_plain(x: Tensor) -> bool:
    """float32 or float64 on a CPU, with nothing to differentiate."""
    return x.dtype in WIDE and x.is_cpu and not torch.is_grad_enabled()


def _inverse_length(x_TD: Tensor, eps: float) -> Tensor:
    """1 / sqrt(mean(x^2) + eps) -> [T, 1]. vector_norm squares and adds without a copy of x."""
    length_T1 = torch.linalg.vector_norm(x_TD, dim=-1, keepdim=True)
    number = scalar(eps, x_TD.dtype, str(x_TD.device))
    return torch.addcmul(number, length_T1, length_T1, value=1 / x_TD.shape[-1]).rsqrt_()
