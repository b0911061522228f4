"""Stores new tokens' K and V in the paged pool; into an int8 pool with one scale a token and head.

A slot of -1 is padding: nothing is written for it.
"""

from __future__ import annotations

from typing import NamedTuple

import triton
import triton.language as tl

from minillm.kernel_build import Build
from minillm.kernel_choice import capability_of, has_bf16, power_of_two

ROUND = tl.constexpr(12582912.0)  # 1.5 x 2^23: adding it leaves no room for a fraction in fp32


@triton.jit
def _store(x, pool_ptr, scale_ptr, offs_pool, offs_scale, mask, inside, INT8: tl.constexpr):
    """A tile of heads x numbers -> pool; int8: x / scale, rounded half to even as torch does."""
    if INT8:
        wide = x.to(tl.float32)
        scale = tl.div_rn(tl.max(tl.abs(wide), axis=1), 127.0)
        scale = tl.where(scale == 0, 1.0, scale)
        steps = tl.div_rn(wide, tl.broadcast_to(scale[:, None], wide.shape))
        steps = (steps + ROUND) - ROUND
        steps = tl.minimum(tl.maximum(steps, -127.0), 127.0)
        tl.store(pool_ptr + offs_pool, steps.to(tl.int8), mask=mask)
        tl.store(scale_ptr + offs_scale, scale, mask=inside)
    else:
        tl.store(pool_ptr + offs_pool, x.to(pool_ptr.dtype.element_ty), mask=mask)


@triton.jit
def store_kernel(
    k_ptr, v_ptr, slots_ptr, k_pool_ptr, v_pool_ptr, k_scale_ptr, v_scale_ptr,
    stride_kt, stride_kh, stride_vt, stride_vh, stride_slot, stride_head, stride_scale,
    HEADS: tl.constexpr, HEAD_SIZE: tl.constexpr, INT8: tl.constexpr,
    BLOCK_G: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """One token, BLOCK_G of its heads, K and V."""
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots_ptr + token).to(tl.int64)  # 64 bits: a pool has more than 2^31 numbers
    offs_g = tl.program_id(1) * BLOCK_G + tl.arange(0, BLOCK_G)
    offs_k = tl.arange(0, BLOCK_K)
    inside = (offs_g < HEADS) & (slot >= 0)
    mask = inside[:, None] & (offs_k[None, :] < HEAD_SIZE)
    offs_pool = slot * stride_slot + offs_g[:, None] * stride_head + offs_k[None, :]
    offs_scale = slot * stride_scale + offs_g
    k_row = token * stride_kt + offs_g[:, None] * stride_kh
    k = tl.load(k_ptr + k_row + offs_k[None, :], mask=mask, other=0.0)
    _store(k, k_pool_ptr, k_scale_ptr, offs_pool, offs_scale, mask, inside, INT8)
    v_row = token * stride_vt + offs_g[:, None] * stride_vh
    v = tl.load(v_ptr + v_row + offs_k[None, :], mask=mask, other=0.0)
    _store(v, v_pool_ptr, v_scale_ptr, offs_pool, offs_scale, mask, inside, INT8)


class Tile(NamedTuple):
    """How the work is cut."""

    block_g: int  # heads a program
    num_warps: int


def tile_for(capability: int, shape: tuple[int, int]) -> Tile:
    """shape: (G, K). At most 2,048 numbers of K and as many of V a program, on every card."""
    heads, size = shape
    block_g = max(1, min(power_of_two(heads), 2048 // power_of_two(size)))
    return Tile(block_g, 4 if block_g * power_of_two(size) >= 1024 else 1)


def fits(x_TGK) -> bool:
    """A head's numbers lie side by side."""
    return x_TGK.stride(2) == 1


def kv_store(k_TGK, v_TGK, slots_T, k_NGK, v_NGK, k_scale_NG=None, v_scale_NG=None,
             tile: Tile | None = None) -> None:  # fmt: skip
    """Write T tokens into slots of the pool of one layer, in place. int8 pools come with scales."""
    tokens, heads, size = k_TGK.shape
    tile = tile or tile_for(capability_of(k_TGK.device), (heads, size))
    assert k_NGK.stride() == v_NGK.stride() and k_NGK.stride(2) == 1
    assert k_TGK.stride(2) == v_TGK.stride(2) == 1 and slots_T.shape == (tokens,)
    int8 = k_scale_NG is not None
    assert not int8 or k_scale_NG.stride() == v_scale_NG.stride() == (k_scale_NG.stride(0), 1)
    if not tokens:
        return
    k_scale, v_scale = (k_scale_NG, v_scale_NG) if int8 else (k_NGK, v_NGK)
    store_kernel[(tokens, triton.cdiv(heads, tile.block_g))](
        k_TGK, v_TGK, slots_T, k_NGK, v_NGK, k_scale, v_scale, *k_TGK.stride()[:2],
        *v_TGK.stride()[:2], *k_NGK.stride()[:2], k_scale.stride(0), HEADS=heads, HEAD_SIZE=size,
        INT8=int8, BLOCK_G=tile.block_g, BLOCK_K=power_of_two(size), num_warps=tile.num_warps,
    )  # fmt: skip


def builds(capability: int) -> list[Build]:
    """What the ahead-of-time table compiles for this card."""
    found = []
    cases = [("fp16", "fp16", 8, 128), ("fp16", "i8", 4, 80), ("fp32", "fp32", 1, 256)]
    cases += [("bf16", "bf16", 8, 128), ("bf16", "i8", 32, 128)] * has_bf16(capability)
    for kind, pool, heads, size in cases:
        tile, int8 = tile_for(capability, (heads, size)), pool == "i8"
        types = {"k_ptr": kind, "v_ptr": kind, "slots_ptr": "i64", "k_pool_ptr": pool,
                 "v_pool_ptr": pool, "k_scale_ptr": "fp32", "v_scale_ptr": "fp32"}  # fmt: skip
        constants = {"HEADS": heads, "HEAD_SIZE": size, "INT8": int8, "BLOCK_G": tile.block_g,
                     "BLOCK_K": power_of_two(size)}  # fmt: skip
        wide = ("k_pool_ptr", "v_pool_ptr") + ("k_scale_ptr", "v_scale_ptr") * int8
        name = f"{heads} x {size}, {kind} into {'int8' if int8 else pool}"
        found.append(Build(name, store_kernel, types, constants, tile.num_warps, wide=wide))
    return found
