"""Products with int8 weights that lie in oneDNN's own layout: the fast path of int8 on a CPU.

oneDNN multiplies unsigned bytes by signed ones (VNNI), so activations are stored with 128 added and
the library takes 128 times each weight row's sum off again. The product is exact in int32; weight
scales are applied on the way out, without another pass over the result.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

MIDDLE = 128  # the unsigned byte that means 0
HALF = 254  # steps of the second half in one step of the first
LARGE = 1 << 22  # weights from which a matrix pays for the dearer call (this project's CPU)


@lru_cache(maxsize=1)
def usable() -> bool:
    """Whether this CPU and this torch give exact products: tried once, with the largest bytes.

    Without VNNI the library adds two products in 16 bits, which can overflow; nothing tells.
    """
    if not hasattr(torch.ops.onednn, "qlinear_pointwise") or not torch.cpu._is_vnni_supported():
        return False
    x_TK = torch.full((3, 64), 127, dtype=torch.int8)
    x_TK[1] = -128
    codes_NK = torch.full((5, 64), -128, dtype=torch.int8)
    codes_NK[1::2] = 127
    try:
        layout = int8_layout(codes_NK, torch.ones(5, 1))
        got_TN = _multiply(_unsigned(x_TK.float()), layout, torch.float32)
        same = torch.equal(codes_of(layout), codes_NK)
    except RuntimeError:
        return False
    return same and torch.equal(got_TN, (x_TK.long() @ codes_NK.long().T).float())


def int8_layout(codes_NK: Tensor, scale_N1: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """What the products here read: codes in oneDNN's layout, float32 scales [N], zeros [N]."""
    packed = torch.ops.onednn.qlinear_prepack(codes_NK.contiguous(), None)
    return packed, scale_N1.flatten().float().contiguous(), _zeros(codes_NK.shape[0])


def codes_of(layout) -> Tensor:
    """The codes again -> int8 [N, K]."""
    return layout[0].to_dense().T.contiguous()


def layout_bytes(layout) -> tuple[int, int]:
    """Bytes of codes (padding and row sums included) and of scales. The zeros serve all layers."""
    return torch.ops.mkldnn._nbytes(layout[0]), layout[1].nbytes


def w8a8(x_TK: Tensor, layout) -> Tensor:
    """As quant_ops.w8a8_matmul without outliers: 8 bits of each activation -> [T, N]."""
    scale_T1 = _row_scale(x_TK)
    q_TK = torch.div(x_TK, scale_T1).round_()
    return _multiply(_unsigned(q_TK), layout, torch.float32).mul_(scale_T1).to(x_TK.dtype)


def w8a16(x_TK: Tensor, layout) -> Tensor:
    """Weight-only int8: 16 bits of each activation, as two rows of 8 -> [T, N].

    The first row is x rounded to steps of its scale, the second what that left over, in steps 254
    times finer. Nearer to the exact product than bfloat16 activations (8 bits of each number)
    unless a row holds a number some hundred times its others.
    """
    both, scale_T1 = halves(x_TK)
    out = _multiply(_unsigned(both), layout, torch.float32)
    return _join(out, scale_T1, x_TK.dtype)


def halves(x_TK: Tensor) -> tuple[Tensor, Tensor]:
    """x = scale * (first + second / 254) nearly -> whole numbers [2T, K] in -128..127, scale."""
    scale_T1 = _row_scale(x_TK)
    unit_TK = torch.div(x_TK, scale_T1)
    first_TK = unit_TK.round().clamp_(max=127)  # the largest is 127.5: the second takes the rest
    return torch.cat((first_TK, unit_TK.sub_(first_TK).mul_(HALF).round_())), scale_T1


def plain_w8a16(x_TK: Tensor, codes_NK: Tensor, scale_N: Tensor) -> Tensor:
    """w8a16 from codes in plain order, for small matrices, whose calls cost more than reading."""
    both, scale_T1 = halves(x_TK)
    out = torch._int_mm(both.to(torch.int8), codes_NK.T) * scale_N.float()
    return _join(out, scale_T1, x_TK.dtype)


def _join(out: Tensor, scale_T1: Tensor, dtype: torch.dtype) -> Tensor:
    rows = scale_T1.shape[0]
    return torch.add(out[:rows], out[rows:], alpha=1 / HALF).mul_(scale_T1).to(dtype)


def _row_scale(x_TK: Tensor) -> Tensor:
    """2 * max|x| / 255 of each row, as quant_ops.quantize_rows; never 0. -> float32 [T, 1]"""
    most_T1 = x_TK.abs().amax(-1, keepdim=True).float() * (2 / 255)
    return most_T1.clamp_(min=torch.finfo(torch.float32).tiny)


def _unsigned(q_TK: Tensor) -> Tensor:
    """Whole numbers -> bytes with 128 added; +127.5 steps are cut to 127. Writes into q_TK."""
    return q_TK.add_(MIDDLE).clamp_(0, 255).to(torch.uint8)


def _multiply(bytes_TK: Tensor, layout, dtype: torch.dtype) -> Tensor:
    packed, scale_N, zero_N = layout
    assert bytes_TK.shape[1] == packed.shape[0], (bytes_TK.shape, packed.shape)
    arguments = (bytes_TK, 1.0, MIDDLE, packed, scale_N, zero_N, None, 1.0, 0, dtype)
    return torch.ops.onednn.qlinear_pointwise.default(*arguments, "none", [], "")


@lru_cache(maxsize=64)
def _zeros(rows: int) -> Tensor:
    """Zero points of symmetric weights, one tensor for all layers of a size."""
    return torch.zeros(rows, dtype=torch.int64)
