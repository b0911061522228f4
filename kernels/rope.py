"""Rotary positions: each number and its partner, half a head away, are turned together."""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from minillm.kernel_build import Build
from minillm.kernel_choice import capability_of, has_bf16, power_of_two


@triton.jit
def rope_kernel(
    x_ptr, cos_ptr, sin_ptr, out_ptr, heads, stride_t, stride_h,
    HEAD_SIZE: tl.constexpr, BLOCK_H: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """BLOCK_H heads of one token."""
    token = tl.program_id(0).to(tl.int64)
    offs_h = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    offs_k = tl.arange(0, BLOCK_K)
    partner_k = tl.where(offs_k < HEAD_SIZE // 2, offs_k + HEAD_SIZE // 2, offs_k - HEAD_SIZE // 2)
    mask_k = offs_k < HEAD_SIZE
    mask = (offs_h[:, None] < heads) & mask_k[None, :]
    cos = tl.load(cos_ptr + token * HEAD_SIZE + offs_k, mask=mask_k, other=0.0).to(tl.float32)
    sin = tl.load(sin_ptr + token * HEAD_SIZE + offs_k, mask=mask_k, other=0.0).to(tl.float32)
    x_row = x_ptr + token * stride_t + offs_h[:, None] * stride_h
    x = tl.load(x_row + offs_k[None, :], mask=mask, other=0.0).to(tl.float32)
    partner = tl.load(x_row + partner_k[None, :], mask=mask, other=0.0).to(tl.float32)
    out = x * cos[None, :] + partner * sin[None, :]
    out_row = out_ptr + (token * heads + offs_h[:, None]) * HEAD_SIZE
    tl.store(out_row + offs_k[None, :], out.to(out_ptr.dtype.element_ty), mask=mask)


class Tile(NamedTuple):
    """How the work is cut."""

    block_h: int  # heads a program
    num_warps: int


def tile_for(capability: int, shape: tuple[int, int]) -> Tile:
    """shape: (heads, K). At most 2,048 numbers a program, on every card."""
    heads, size = shape
    block_h = max(1, min(power_of_two(heads), 2048 // power_of_two(size)))
    return Tile(block_h, 4 if block_h * power_of_two(size) >= 1024 else 1)


def fits(x_THK) -> bool:
    """A head's numbers lie side by side."""
    return x_THK.dim() == 3 and x_THK.stride(2) == 1


def rope(x_THK, cos_T1K, sin_T1K, tile: Tile | None = None):
    """Rotate each pair (a, b) = (x[i], x[i + K/2]) to (a cos - b sin, b cos + a sin) -> [T, H, K].

    cos_T1K, sin_T1K: ops.rope_tables; the first half of sin is negative.
    """
    tokens, heads, size = x_THK.shape
    assert x_THK.stride(2) == 1 and size % 2 == 0, x_THK.shape
    assert cos_T1K.is_contiguous() and sin_T1K.is_contiguous(), "tables: [T, 1, K], no gaps"
    tile = tile or tile_for(capability_of(x_THK.device), (heads, size))
    out_THK = torch.empty(x_THK.shape, dtype=x_THK.dtype, device=x_THK.device)
    if tokens:
        rope_kernel[(tokens, triton.cdiv(heads, tile.block_h))](
            x_THK, cos_T1K, sin_T1K, out_THK, heads, x_THK.stride(0), x_THK.stride(1),
            HEAD_SIZE=size, BLOCK_H=tile.block_h, BLOCK_K=power_of_two(size),
            num_warps=tile.num_warps,
        )  # fmt: skip
    return out_THK


def builds(capability: int) -> list[Build]:
    """What the ahead-of-time table compiles for this card."""
    cases = [("fp16", 40, 128), ("fp32", 5, 256), ("fp16", 34, 80)]
    cases += [("bf16", 32, 64)] * has_bf16(capability)
    found = []
    for kind, heads, size in cases:
        tile = tile_for(capability, (heads, size))
        types = {"x_ptr": kind, "cos_ptr": kind, "sin_ptr": kind, "out_ptr": kind}
        constants = {"HEAD_SIZE": size, "BLOCK_H": tile.block_h, "BLOCK_K": power_of_two(size)}
        name = f"{heads} x {size}, {kind}"
        found.append(Build(name, rope_kernel, types, constants, tile.num_warps))
    return found
