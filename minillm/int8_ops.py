"""Products with int8 weights that lie in oneDNN's own layout: the fast path of int8 on a CPU.

oneDNN multiplies unsigned bytes by signed ones (VNNI), so activations are stored with 128 added and
the library takes 128 times each weight row's sum off again. The product is exact in int32; weight
scales are applied on the way out, without another pass over the result.
"""

from __future__ import annotations

import sys
from functools import lru_cache

import torch
from torch import Tensor

from minillm.quant_ops import int_product
from minillm.scalars import scalar

MIDDLE = 128  # the unsigned byte that means 0
STEPS = 127 * 257  # steps of 16 bits from 0 to the largest: 256 * 127 + 127
ONE = 3 << 22  # float32 numbers of this size lie 1 apart
MANY = 32  # rows from which a copy of |x| costs more than looking twice


@lru_cache(maxsize=1)
def usable() -> bool:
    """Whether this CPU and this torch give exact products: tried once, with the largest bytes.

    Without VNNI the library adds two products in 16 bits, which can overflow; nothing tells.
    """
    vnni = getattr(torch.cpu, "_is_vnni_supported", None)  # not a public function
    if not hasattr(torch.ops.onednn, "qlinear_pointwise") or vnni is None or not vnni():
        return False
    x_TK = torch.full((3, 64), 127, dtype=torch.int8)
    x_TK[1] = -128
    codes_NK = torch.full((5, 64), -128, dtype=torch.int8)
    codes_NK[1::2] = 127
    try:
        layout = int8_layout(codes_NK, torch.ones(5, 1))
        got_TN = _multiply((x_TK.short() + MIDDLE).to(torch.uint8), layout)
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
    scale_T1 = most(x_TK).mul_(scalar(2 / 255))
    return _scaled(one_byte(x_TK, scale_T1), layout, scale_T1).to(x_TK.dtype)


def one_byte(x_TK: Tensor, scale_T1: Tensor) -> Tensor:
    """round(x / scale) + 128 as a byte, +127.5 cut to 127."""
    return _whole(x_TK, scale_T1, MIDDLE).clamp_(max=ONE + 255).view(torch.int32).to(torch.uint8)


def _whole(x_TK: Tensor, scale_T1: Tensor, offset: int) -> Tensor:
    """round(x / scale) + offset in the last bits of a float32, where view(int32) finds it.

    A number as large as ONE has no room behind the point: adding the quotient to it rounds, to
    even at a tie as round() does. Converting a float to a byte takes several times as long.
    """
    return torch.div(x_TK.float().contiguous(), scale_T1).add_(scalar(float(ONE + offset)))


def w8a16(x_TK: Tensor, layout) -> Tensor:
    """Weight-only int8: 16 bits of each activation, as two rows of bytes -> [T, N].

    Nearer to the exact product than bfloat16 activations (8 bits of each number) unless a row
    holds a number some hundred times its others.
    """
    bytes_SK, step_T1 = two_bytes(x_TK)
    return join(_multiply(bytes_SK, layout), 256, step_T1, x_TK.dtype)


def plain_w8a16(x_TK: Tensor, codes_NK: Tensor, scale_N: Tensor) -> Tensor:
    """w8a16 from codes in plain order, for small matrices, whose calls cost more than reading."""
    bytes_SK, step_T1 = two_bytes(x_TK)
    signed_SK = bytes_SK.view(torch.int8).bitwise_xor_(-MIDDLE)  # the byte less 128
    return join(int_product(signed_SK, codes_NK) * scale_N.float(), 256, step_T1, x_TK.dtype)


def two_bytes(x_TK: Tensor) -> tuple[Tensor, Tensor]:
    """x in steps of max|x| / STEPS: 256 (high - 128) + low - 128 -> bytes [2T, K], step [T, 1].

    Few operations, because at one row each costs as much as a good part of the product.
    """
    if not len(x_TK):  # an empty tensor keeps any strides, and view() asks for them
        return torch.empty_like(x_TK, dtype=torch.uint8), x_TK.new_empty(0, 1)
    step_T1 = most(x_TK).mul_(scalar(1 / STEPS))
    steps_TK = _whole(x_TK, step_T1, 257 * MIDDLE)
    bytes_TK4 = steps_TK.view(torch.uint8).unflatten(-1, (-1, 4))
    low, high = (0, 1) if sys.byteorder == "little" else (3, 2)
    return torch.cat((bytes_TK4[..., low], bytes_TK4[..., high])), step_T1


def join(out_SN: Tensor, base: int, step_T1: Tensor, dtype: torch.dtype) -> Tensor:
    """(low + base * high) * step of products whose rows are all the low bytes, then the high."""
    low_TN, high_TN = out_SN.tensor_split(2)
    return torch.add(low_TN, high_TN, alpha=base).mul_(step_T1).to(dtype)


def most(x_TK: Tensor) -> Tensor:
    """max|x| of each row, never 0 -> float32 [T, 1], free to be written to"""
    if len(x_TK) < MANY:
        most_T1 = x_TK.abs().amax(-1, keepdim=True)
    else:
        most_T1 = torch.maximum(x_TK.amax(-1, keepdim=True), x_TK.amin(-1, keepdim=True).neg_())
    return most_T1.float().clamp_(min=1e-30)


def _scaled(bytes_TK: Tensor, layout, scale_T1: Tensor) -> Tensor:
    """_multiply with a scale for each row; that of a single row needs no pass of its own."""
    if len(bytes_TK) == 1:
        return _multiply(bytes_TK, layout, scale_T1.item())
    return _multiply(bytes_TK, layout).mul_(scale_T1)


def _multiply(bytes_TK: Tensor, layout, step: float = 1.0) -> Tensor:
    """(bytes - 128) * step @ (codes * scale).T, summed exactly -> float32 [T, N]"""
    packed, scale_N, zero_N = layout
    assert bytes_TK.shape[1] == packed.shape[0], (bytes_TK.shape, packed.shape)
    arguments = (bytes_TK, step, MIDDLE, packed, scale_N, zero_N, None, 1.0, 0, torch.float32)
    return torch.ops.onednn.qlinear_pointwise.default(*arguments, "none", [], "")


@lru_cache(maxsize=64)
def _zeros(rows: int) -> Tensor:
    """Zero points of symmetric weights, one tensor for all layers of a size."""
    return torch.zeros(rows, dtype=torch.int64)
