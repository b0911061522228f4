"""x @ W^T with W as packed words of 4 or 8 bits and scales; W is never written out in full.

For few rows of x the time goes into reading W, so each program reads its words once, for all its
rows, multiplies and sums. For more rows on a card with tensor cores that Triton can use, the
numbers that a program makes out of its words go straight into tl.dot. Sums are float32 in both.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import torch
import triton
import triton.language as tl

from minillm.compress.formats import nf4_levels
from minillm.kernel_build import Build
from minillm.kernel_choice import (
    capability_of,
    has_bf16,
    has_tensor_dot,
    multiprocessors,
    power_of_two,
)
from minillm.quant_ops import FEW_ROWS


@triton.jit
def _fields(word, BITS: tl.constexpr):
    """int32 words [N, W] -> their fields [N, W, 32 / BITS], lowest bits first, in registers."""
    both = tl.join(word, word >> 16)
    both = tl.join(both, both >> 8)
    if BITS == 4:
        both = tl.join(both, both >> 4)
    return tl.reshape(both, [word.shape[0], word.shape[1], 32 // BITS]) & ((1 << BITS) - 1)


@triton.jit
def product_kernel(
    x_ptr, packed_ptr, w_scale_ptr, zero_ptr, levels_ptr, out_ptr, rows, out_features, in_features,
    stride_x, stride_packed, stride_scale, stride_zero,
    BITS: tl.constexpr, GROUP: tl.constexpr, ZERO: tl.constexpr, NF4: tl.constexpr,
    DOT: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_W: tl.constexpr,
):  # fmt: skip
    """BLOCK_T rows of x, BLOCK_N of W, BLOCK_W words of each at a time; GROUP 0: a whole row."""
    FIELDS: tl.constexpr = 32 // BITS  # codes in a word
    HALF: tl.constexpr = 1 << (BITS - 1)  # a field is its code + HALF
    offs_n = (tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    offs_t = (tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)).to(tl.int64)
    mask_n, mask_t = offs_n < out_features, offs_t < rows
    words = (in_features + FIELDS - 1) // FIELDS
    if DOT:
        acc = tl.zeros([BLOCK_N, BLOCK_T], tl.float32)
    else:
        acc = tl.zeros([BLOCK_T, BLOCK_N, BLOCK_W, FIELDS], tl.float32)  # added up at the end
    for start in tl.range(0, words, BLOCK_W):
        offs_w = start + tl.arange(0, BLOCK_W)
        mask_nw = mask_n[:, None] & (offs_w[None, :] < words)
        offs_packed = offs_n[:, None] * stride_packed + offs_w[None, :]
        field = _fields(tl.load(packed_ptr + offs_packed, mask=mask_nw, other=0), BITS)
        offs_g = offs_w * 0  # a word lies in one group, so one scale serves all its codes
        if GROUP > 0:
            offs_g = offs_w * FIELDS // GROUP
        offs_scale = offs_n[:, None] * stride_scale + offs_g[None, :]
        scale = tl.load(w_scale_ptr + offs_scale, mask=mask_nw, other=0.0).to(tl.float32)
        if NF4:
            value = tl.load(levels_ptr + field)
        elif ZERO:
            offs_zero = offs_n[:, None] * stride_zero + offs_g[None, :]
            zero = tl.load(zero_ptr + offs_zero, mask=mask_nw, other=0).to(tl.int32)
            value = (field - (zero + HALF)[:, :, None]).to(tl.float32)
        else:
            value = (field - HALF).to(tl.float32)
        if DOT:
            weight = tl.reshape(value * scale[:, :, None], [BLOCK_N, BLOCK_W * FIELDS])
            offs_k = start * FIELDS + tl.arange(0, BLOCK_W * FIELDS)
            mask = (offs_k[:, None] < in_features) & mask_t[None, :]
            x = tl.load(x_ptr + offs_t[None, :] * stride_x + offs_k[:, None], mask=mask, other=0.0)
            acc = tl.dot(weight.to(x.dtype), x, acc)
        else:
            offs_k = (offs_w * FIELDS)[:, None] + tl.arange(0, FIELDS)[None, :]
            mask = (offs_k[None, :, :] < in_features) & mask_t[:, None, None]
            offs_x = offs_t[:, None, None] * stride_x + offs_k[None, :, :]
            x = tl.load(x_ptr + offs_x, mask=mask, other=0.0).to(tl.float32)
            weight = value * scale[:, :, None]
            acc += weight[None, :, :, :] * x[:, None, :, :]
    if DOT:
        out = acc
    else:
        out = tl.trans(tl.sum(tl.sum(acc, axis=3), axis=2))
    offs_out = offs_t[None, :] * out_features + offs_n[:, None]
    mask = mask_n[:, None] & mask_t[None, :]
    tl.store(out_ptr + offs_out, out.to(out_ptr.dtype.element_ty), mask=mask)


class Shape(NamedTuple):
    """What decides the tile."""

    rows: int  # of x
    out_features: int
    in_features: int
    bits: int
    itemsize: int  # bytes of one number of x


class Tile(NamedTuple):
    """How the work is cut."""

    block_t: int  # rows of x
    block_n: int  # rows of W
    block_w: int  # words of a row of W at a time
    dot: bool  # tensor cores
    num_warps: int
    num_stages: int


def tile_for(capability: int, shape: Shape) -> Tile:
    """The tile for a card and a shape: a plain rule, the same every time.

    Few rows: up to 16 rows of W a program, fewer where there would be too few programs, and 32 to
    64 sums a thread in registers. Tensor cores for more rows of 16-bit numbers.
    """
    words = power_of_two(-(-shape.in_features * shape.bits // 32))
    if shape.rows > FEW_ROWS and shape.itemsize == 2 and has_tensor_dot(capability):
        block_t = min(64, max(16, power_of_two(shape.rows)))
        return Tile(block_t, 64, 64 * shape.bits // 32, True, 4, 3)
    block_t, block_w = min(8, power_of_two(shape.rows)), min(32, words)
    programs = 4 * multiprocessors(capability)
    block_n = min(16, max(4, power_of_two(shape.out_features // programs)))
    sums = block_t * block_w * 32 // shape.bits  # for one row of W
    block_n = min(block_n, max(1, 64 * 256 // sums))
    return Tile(block_t, block_n, block_w, False, min(8, max(1, block_n * sums // 1024)), 2)


def fits(x_TK) -> bool:
    """The numbers of a row lie side by side."""
    return x_TK.dim() == 2 and x_TK.stride(1) == 1


@functools.cache
def _levels(device: torch.device) -> torch.Tensor:
    return nf4_levels(torch.float32, device)


def quant_matmul(x_TK, packed_NW, scale_NG, zero_NG, bits: int, group: int, nf4: bool = False,
                 tile: Tile | None = None):  # fmt: skip
    """x @ ((codes - zero) * scale).T -> [T, N], dtype of x. tile: None is tile_for's.

    packed_NW: int32 words as compress/packing.py makes them. group: columns a scale serves, a
    multiple of the codes in a word, or all columns.
    """
    (rows, columns), out_features = x_TK.shape, packed_NW.shape[0]
    capability, fields = capability_of(x_TK.device), 32 // bits
    shape = Shape(rows, out_features, columns, bits, x_TK.element_size())
    tile = tile or tile_for(capability, shape)
    assert fits(x_TK) and packed_NW.stride(1) == 1, (x_TK.stride(), packed_NW.stride())
    assert packed_NW.shape[1] == -(-columns // fields) and packed_NW.dtype == torch.int32
    assert scale_NG.shape == (out_features, -(-columns // group)) and scale_NG.stride(1) == 1
    assert group >= columns or group % fields == 0, (group, fields)
    assert zero_NG is None or zero_NG.shape == scale_NG.shape and zero_NG.stride(1) == 1
    if scale_NG.dtype == torch.bfloat16 and not has_bf16(capability):
        scale_NG = scale_NG.float()
    out_TN = torch.empty(rows, out_features, dtype=x_TK.dtype, device=x_TK.device)
    zero = packed_NW if zero_NG is None else zero_NG  # not touched where there is none
    grid = (triton.cdiv(out_features, tile.block_n), triton.cdiv(rows, tile.block_t))
    if rows and out_features:
        product_kernel[grid](
            x_TK, packed_NW, scale_NG, zero, _levels(x_TK.device) if nf4 else scale_NG, out_TN,
            rows, out_features, columns, x_TK.stride(0), packed_NW.stride(0), scale_NG.stride(0),
            zero.stride(0), **_constants(shape, tile, group, zero_NG is not None, nf4),
            num_warps=tile.num_warps, num_stages=tile.num_stages,
        )  # fmt: skip
    return out_TN


def _constants(shape: Shape, tile: Tile, group: int, zero: bool, nf4: bool) -> dict:
    return {
        "BITS": shape.bits, "GROUP": 0 if group >= shape.in_features else group, "ZERO": zero,
        "NF4": nf4, "DOT": tile.dot, "BLOCK_T": tile.block_t, "BLOCK_N": tile.block_n,
        "BLOCK_W": tile.block_w,
    }  # fmt: skip


WIDE = ("x_ptr", "packed_ptr", "w_scale_ptr")  # what may lie beyond 2^31 numbers
# name, rows, N, K, bits, group, zero points, nf4, type of x; scales are of x's type, or as said
BUILDS = (
    ("int4 g64", 1, 4096, 4096, 4, 64, False, False, "fp16"),
    ("int4 g128, zeros", 7, 14_336, 4096, 4, 128, True, False, "fp16"),
    ("int8 a row", 4, 4096, 4304, 8, 4304, False, False, "fp16"),
    ("int8 a row, fp32", 7, 640, 288, 8, 288, False, False, "fp32"),
    ("nf4 g64", 2, 4096, 4096, 4, 64, False, True, "fp16"),
    ("int4 g64", 16, 4096, 4096, 4, 64, False, False, "fp16"),
    ("int8 g128, zeros, bf16", 64, 4096, 4096, 8, 128, True, False, "bf16"),
    ("int4 g128, bf16", 1, 4096, 4096, 4, 128, False, False, "bf16"),
    ("int4 g64, fp32 scales", 3, 4096, 4096, 4, 64, False, False, "fp16"),
)


def builds(capability: int) -> list[Build]:
    """What the ahead-of-time table compiles for this card."""
    found = []
    for name, rows, out_features, columns, bits, group, zero, nf4, kind in BUILDS:
        if kind == "bf16" and not has_bf16(capability):
            continue
        shape = Shape(rows, out_features, columns, bits, 4 if kind == "fp32" else 2)
        if rows > FEW_ROWS and not has_tensor_dot(capability):
            continue
        tile = tile_for(capability, shape)
        scales = "fp32" if "fp32 scales" in name else kind
        types = {"x_ptr": kind, "packed_ptr": "i32", "w_scale_ptr": scales, "levels_ptr": "fp32",
                 "zero_ptr": "i8", "out_ptr": kind}  # fmt: skip
        constants = _constants(shape, tile, group, zero, nf4)
        found.append(Build(f"{rows} x {name}", product_kernel, types, constants, tile.num_warps,
                           tile.num_stages, mma=tile.dot, wide=WIDE))  # fmt: skip
    return found
