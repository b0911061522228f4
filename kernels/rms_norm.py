"""RMSNorm: one read and one write of x; also with 1 + weight, and over the heads of q and k."""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from minillm.kernel_build import Build
from minillm.kernel_choice import capability_of, has_bf16, power_of_two

WIDEST = 16_384  # numbers in a row: one program holds a whole row in its registers


@triton.jit
def norm_kernel(
    x_ptr, weight_ptr, out_ptr, rows, heads, stride_t, stride_h, eps,
    SIZE: tl.constexpr, PLUS_ONE: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr,
):  # fmt: skip
    """BLOCK_T rows; row r is head r % heads of token r // heads."""
    offs_t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    offs_d = tl.arange(0, BLOCK_D)
    mask = (offs_t[:, None] < rows) & (offs_d[None, :] < SIZE)
    token, head = (offs_t // heads).to(tl.int64), offs_t % heads
    offs_x = token * stride_t + head * stride_h
    x = tl.load(x_ptr + offs_x[:, None] + offs_d[None, :], mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + offs_d, mask=offs_d < SIZE, other=0.0).to(tl.float32)
    if PLUS_ONE:
        weight += 1.0
    unit = x * tl.rsqrt(tl.sum(x * x, axis=1) / SIZE + eps)[:, None]
    offs_out = offs_t.to(tl.int64)[:, None] * SIZE + offs_d[None, :]
    out = unit * weight[None, :]
    tl.store(out_ptr + offs_out, out.to(out_ptr.dtype.element_ty), mask=mask)


class Tile(NamedTuple):
    """How the work is cut."""

    block_t: int  # rows a program
    num_warps: int


def tile_for(capability: int, shape: tuple[int, int]) -> Tile:
    """shape: (rows, numbers in a row). About 16 numbers a thread, on every card."""
    rows, block_d = shape[0], power_of_two(shape[1])
    block_t = max(1, min(2048 // block_d, power_of_two(rows)))
    return Tile(block_t, max(1, min(16, block_t * block_d // 512)))


def fits(x_TD) -> bool:
    """One row fits a program, its numbers side by side."""
    return x_TD.dim() in (2, 3) and x_TD.stride(-1) == 1 and x_TD.shape[-1] <= WIDEST


def rms_norm(x_TD, weight_D, eps: float, plus_one: bool = False, tile: Tile | None = None):
    """x / sqrt(mean(x^2) + eps) * weight over the last dimension; x is [T, D] or [T, H, K]."""
    size, heads = x_TD.shape[-1], x_TD.shape[1] if x_TD.dim() == 3 else 1
    rows = x_TD.shape[0] * heads
    assert fits(x_TD), (x_TD.shape, x_TD.stride())
    tile = tile or tile_for(capability_of(x_TD.device), (rows, size))
    kind = x_TD.dtype if plus_one else torch.promote_types(x_TD.dtype, weight_D.dtype)
    out_TD = torch.empty(x_TD.shape, dtype=kind, device=x_TD.device)
    if rows:
        norm_kernel[(triton.cdiv(rows, tile.block_t),)](
            x_TD, weight_D, out_TD, rows, heads, x_TD.stride(0), x_TD.stride(-2), eps, SIZE=size,
            PLUS_ONE=plus_one, BLOCK_T=tile.block_t, BLOCK_D=power_of_two(size),
            num_warps=tile.num_warps,
        )  # fmt: skip
    return out_TD


def builds(capability: int) -> list[Build]:
    """What the ahead-of-time table compiles for this card."""
    cases = [("fp16", 64, 4096, False), ("fp16", 256, 128, False), ("fp32", 1, 640, True)]
    cases += [("fp32", 64, WIDEST, False)]
    cases += [("bf16", 64, 2304, True), ("bf16", 8, WIDEST, False)] * has_bf16(capability)
    found = []
    for kind, rows, size, plus_one in cases:
        tile = tile_for(capability, (rows, size))
        types = {"x_ptr": kind, "weight_ptr": kind, "out_ptr": kind, "eps": "fp32"}
        constants = {"SIZE": size, "PLUS_ONE": plus_one, "BLOCK_T": tile.block_t,
                     "BLOCK_D": power_of_two(size)}  # fmt: skip
        name = f"{rows} x {size}, {kind}{', 1 + w' if plus_one else ''}"
        found.append(Build(name, norm_kernel, types, constants, tile.num_warps, wide=("x_ptr",)))
    return found
