"""Products with quantised matrices: plain twins, and torch's packed CPU operations behind a guard.

These packed operations read out of bounds when a shape does not suit them (seen as crashes), so
they are called from this file only, after `fits` has looked at everything. oneDNN's int8 product
(int8_ops.py) takes every shape.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from minillm import ops
from minillm.compress.formats import decode
from minillm.compress.packing import unpack
from minillm.kernel_choice import capability_of, has_tensor_dot

FEW_ROWS = 7  # up to so many the GPU kernel multiplies and sums, without tensor cores
MORE_ROWS = 128  # with them; beyond, one dequantised copy serves many rows (a rule, not measured)
INT4_GROUPS = (32, 64, 128, 256)  # what the packed int4 product knows


def quant_matmul(x_TK, packed_NW, scale_NG, zero_NG, bits: int, group: int, nf4: bool = False):
    """x @ ((codes - zero) * scale).T from packed words -> [T, N]: the GPU kernel where it can."""
    if x_TK.is_cuda and (fast := ops.kernel("quant_matmul", x_TK)):
        capability = capability_of(x_TK.device)
        if kernel_suits(x_TK.shape[0], x_TK.shape[1], x_TK.dtype, bits, group, capability):
            return fast(x_TK, packed_NW, scale_NG, zero_NG, bits, group, nf4)
    return plain_quant_matmul(x_TK, packed_NW, scale_NG, zero_NG, bits, group, nf4)


def plain_quant_matmul(x_TK, packed_NW, scale_NG, zero_NG, bits, group, nf4=False) -> Tensor:
    """The twin of kernels/quant_matmul.py: dequantise to x's dtype, then multiply."""
    codes_NK = unpack(packed_NW, bits, x_TK.shape[1])
    return F.linear(x_TK, decode(codes_NK, scale_NG, zero_NG, group, nf4, x_TK.dtype))


def kernel_suits(rows: int, columns: int, dtype, bits: int, group: int, capability: int) -> bool:
    """Whether the GPU kernel is taken: no word of codes in two groups, not too many rows."""
    if group < columns and group % (32 // bits):
        return False
    dot = has_tensor_dot(capability) and dtype in (torch.float16, torch.bfloat16)
    return rows <= (MORE_ROWS if dot else FEW_ROWS)


def fits(bits: int, rows_N: int, columns_K: int, group: int, device: torch.device) -> bool:
    """Whether torch's packed product of this format takes a matrix [N, K] on this device."""
    if device.type != "cpu" or not hasattr(torch.ops.aten, "_weight_int4pack_mm_for_cpu"):
        return False
    if bits == 8:  # one scale a row; K % 16 != 0 reads past the end
        return group == columns_K and columns_K % 16 == 0 and rows_N % 4 == 0
    if bits == 4:
        return group in INT4_GROUPS and columns_K % group == 0 and rows_N % 16 == 0
    return False


def int8_layout(codes_NK: Tensor, scale_N1: Tensor) -> tuple[Tensor, Tensor]:
    """What int8_matmul reads: codes int8 [N, K] and bfloat16 scales [N]."""
    return codes_NK.contiguous(), scale_N1.flatten().to(torch.bfloat16).contiguous()


def int8_matmul(x_TK: Tensor, layout: tuple[Tensor, Tensor]) -> Tensor:
    """x @ (codes * scale).T through the packed operation, bfloat16 inside -> [T, N]."""
    codes_NK, scale_N = layout
    assert fits(8, *codes_NK.shape, codes_NK.shape[1], x_TK.device)
    assert scale_N.shape == codes_NK.shape[:1] and x_TK.shape[1] == codes_NK.shape[1]
    return torch._weight_int8pack_mm(_bf16(x_TK), codes_NK, scale_N).to(x_TK.dtype)


def int4_layout(codes_NK: Tensor, scale_NG: Tensor, zero_NG, group: int):
    """What int4_matmul reads: packed codes, bfloat16 [G, N, 2] of scales and offsets, group."""
    offset_NG = torch.zeros_like(scale_NG) if zero_NG is None else -scale_NG * zero_NG
    both_GN2 = torch.stack((scale_NG, offset_NG), dim=-1).transpose(0, 1)
    return _pack_int4(codes_NK), both_GN2.to(torch.bfloat16).contiguous(), group


def _pack_int4(codes_NK: Tensor) -> Tensor:
    unsigned = (codes_NK.to(torch.int32) + 8).contiguous()
    return torch.ops.aten._convert_weight_to_int4pack_for_cpu(unsigned, 1)


def int4_matmul(x_TK: Tensor, layout) -> Tensor:
    """x @ (codes * scale + offset).T through the packed operation, bfloat16 inside -> [T, N]."""
    packed, both_GN2, group = layout
    columns = both_GN2.shape[0] * group
    assert fits(4, both_GN2.shape[1], columns, group, x_TK.device) and x_TK.shape[1] == columns
    assert packed.numel() * 2 == both_GN2.shape[1] * columns
    out = torch.ops.aten._weight_int4pack_mm_for_cpu(_bf16(x_TK), packed, group, both_GN2)
    return out.to(x_TK.dtype)


def int4_codes(layout) -> Tensor:
    """The codes of an int4 layout, exactly: its product with the identity -> int8 [N, K]."""
    packed, both_GN2, group = layout
    plain = torch.zeros_like(both_GN2)
    plain[..., 0] = 1
    identity_KK = torch.eye(both_GN2.shape[0] * group)
    return int4_matmul(identity_KK, (packed, plain, group)).round().to(torch.int8).T.contiguous()


def quantize_rows(x_TK: Tensor) -> tuple[Tensor, Tensor]:
    """Dynamic int8 of activations, one scale a token: int8 [T, K] and scale [T, 1].

    scale = 2 * max|x| / 255, as for weights (compressed-tensors, strategy "token"). A row of zeros
    has scale 1.
    """
    wide = x_TK if x_TK.dtype == torch.float64 else x_TK.float()
    scale_T1 = wide.abs().amax(-1, keepdim=True) * (2 / 255)
    scale_T1 = torch.where(scale_T1 == 0, torch.ones_like(scale_T1), scale_T1)
    return (wide / scale_T1).round().clamp(-128, 127).to(torch.int8), scale_T1


def int_product(a_TK: Tensor, b_NK: Tensor) -> Tensor:
    """a @ b.T of int8 matrices, exactly -> int32 [T, N]."""
    if a_TK.is_cpu:
        return torch._int_mm(a_TK, b_NK.T)
    rows, columns = a_TK.shape[0], a_TK.shape[1]  # CUDA wants more than 16 rows and multiples of 8
    pad = lambda x, more_rows: F.pad(x, (0, -columns % 8, 0, more_rows))
    out = torch._int_mm(pad(a_TK, max(32 - rows, 0)), pad(b_NK, -b_NK.shape[0] % 8).T)
    return out[:rows, : b_NK.shape[0]]


def w8a8_matmul(x_TK: Tensor, codes_NK: Tensor, scale_N1: Tensor, outlier=None) -> Tensor:
    """Both sides in int8: x is quantised a token at a time, the product is exact in int32.

    outlier: columns where any |x| is larger are multiplied in x's own dtype instead, as LLM.int8()
    does (Dettmers et al. 2022; threshold 6.0 there), since one large number makes the whole token
    coarse. -> [T, N] in x's dtype.
    """
    apart = None
    if outlier is not None:
        large_K = (x_TK.abs() > outlier).any(dim=0)
        if large_K.any():
            weight = codes_NK[:, large_K].to(scale_N1.dtype) * scale_N1
            apart = x_TK[:, large_K] @ weight.to(x_TK.dtype).T
            x_TK = x_TK.masked_fill(large_K, 0)
    q_TK, scale_T1 = quantize_rows(x_TK)
    out_TN = int_product(q_TK, codes_NK) * scale_T1 * scale_N1.to(scale_T1.dtype).T
    out_TN = out_TN.to(x_TK.dtype)
    return out_TN if apart is None else out_TN + apart


def _bf16(x: Tensor) -> Tensor:
    return x.to(torch.bfloat16).contiguous()
