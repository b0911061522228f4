"""Decode attention through block tables: one query a request, the context split among programs.

Flash-decoding (Dao et al. 2023) over pages (Kwon et al. 2023). With one query a request there are
too few (request, head) pairs to keep a GPU busy, so each program takes one part of the context and
a second kernel puts the parts together. The query heads of a group share one program: their K and V
are loaded once. How a context is split follows its own length, read on the GPU; the grid does not,
so a captured CUDA graph serves any lengths.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import triton
import triton.language as tl

from minillm.kernel_build import Build
from minillm.kernel_choice import (
    capability_of,
    has_bf16,
    has_tensor_dot,
    multiprocessors,
    power_of_two,
)  # fmt: skip


@triton.jit
def split_kernel(
    q_ptr, k_ptr, v_ptr, k_scale_ptr, v_scale_ptr, table_ptr, len_ptr, out_ptr, peak_ptr, total_ptr,
    scale_log2, stride_qs, stride_qh, stride_slot, stride_head, stride_scale, stride_table,
    HEADS: tl.constexpr, GROUP: tl.constexpr, HEAD_SIZE: tl.constexpr, PAGE: tl.constexpr,
    WINDOW: tl.constexpr, INT8: tl.constexpr, DOT: tl.constexpr, SPLITS: tl.constexpr,
    BLOCK_R: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """One request, one K/V head and (up to BLOCK_R of) its queries, one part of the context."""
    request = tl.program_id(0).to(tl.int64)
    PIECES: tl.constexpr = (GROUP + BLOCK_R - 1) // BLOCK_R  # 1 but for very large groups
    head, split = tl.program_id(1) // PIECES, tl.program_id(2)
    offs_r = tl.program_id(1) % PIECES * BLOCK_R + tl.arange(0, BLOCK_R)
    offs_k = tl.arange(0, BLOCK_K)
    mask_rk = (offs_r[:, None] < GROUP) & (offs_k[None, :] < HEAD_SIZE)
    q_row = request * stride_qs + (head * GROUP + offs_r[:, None]) * stride_qh
    q = tl.load(q_ptr + q_row + offs_k[None, :], mask=mask_rk, other=0.0)
    length = tl.load(len_ptr + request).to(tl.int32)
    first = length * 0
    if WINDOW > 0:
        first = tl.maximum(length - WINDOW, 0)
    part = tl.cdiv(tl.cdiv(length - first, SPLITS), BLOCK_N) * BLOCK_N
    start = first + split * part
    end = tl.minimum(start + part, length)
    peak = tl.full([BLOCK_R], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_R], tl.float32)
    acc = tl.zeros([BLOCK_R, BLOCK_K], tl.float32)
    for at in range(start, end, BLOCK_N):
        offs_n = at + tl.arange(0, BLOCK_N)
        valid = offs_n < end
        table_row = table_ptr + request * stride_table
        block = tl.load(table_row + offs_n // PAGE, mask=valid, other=0).to(tl.int64)
        slot = block * PAGE + offs_n % PAGE  # 64 bits: a pool has more than 2^31 numbers
        offs_nk = slot[:, None] * stride_slot + head * stride_head + offs_k[None, :]
        mask_nk = valid[:, None] & (offs_k[None, :] < HEAD_SIZE)  # unused slots may hold NaN
        k = tl.load(k_ptr + offs_nk, mask=mask_nk, other=0).to(tl.float32 if INT8 else q.dtype)
        v = tl.load(v_ptr + offs_nk, mask=mask_nk, other=0).to(tl.float32 if INT8 else q.dtype)
        if INT8:
            offs_scale = slot * stride_scale + head
            k *= tl.load(k_scale_ptr + offs_scale, mask=valid, other=0.0)[:, None]
            v *= tl.load(v_scale_ptr + offs_scale, mask=valid, other=0.0)[:, None]
        if DOT:
            scores = tl.dot(q, tl.trans(k.to(q.dtype)))
        else:
            q_wide, k_wide = q.to(tl.float32), k.to(q.dtype).to(tl.float32)
            scores = tl.sum(q_wide[:, None, :] * k_wide[None, :, :], axis=2)
        scores = tl.where(valid[None, :], scores * scale_log2, float("-inf"))
        new_peak = tl.maximum(peak, tl.max(scores, axis=1))  # finite: a part has a valid token
        probs = tl.exp2(scores - new_peak[:, None])
        shrink = tl.exp2(peak - new_peak)
        total = total * shrink + tl.sum(probs, axis=1)
        if DOT:
            acc = tl.dot(probs.to(q.dtype), v.to(q.dtype), acc * shrink[:, None])
        else:
            v_wide = v.to(q.dtype).to(tl.float32)
            acc = acc * shrink[:, None] + tl.sum(probs[:, :, None] * v_wide[None, :, :], axis=1)
        peak = new_peak
    row = (request * HEADS + head * GROUP + offs_r) * SPLITS + split
    acc = acc / tl.where(total > 0, total, 1.0)[:, None]  # an empty part is 0, never 0 / 0
    tl.store(out_ptr + row[:, None] * HEAD_SIZE + offs_k[None, :], acc, mask=mask_rk)
    if SPLITS > 1:
        tl.store(peak_ptr + row, peak, mask=offs_r < GROUP)
        tl.store(total_ptr + row, total, mask=offs_r < GROUP)


@triton.jit
def join_kernel(
    part_ptr, peak_ptr, total_ptr, out_ptr,
    HEAD_SIZE: tl.constexpr, SPLITS: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """One query head: the mean of its parts, each weighted by its share of all exponentials."""
    row = tl.program_id(0).to(tl.int64)
    offs_p, offs_k = tl.arange(0, SPLITS), tl.arange(0, BLOCK_K)
    peak = tl.load(peak_ptr + row * SPLITS + offs_p)
    total = tl.load(total_ptr + row * SPLITS + offs_p)
    highest = tl.maximum(tl.max(peak, axis=0), -1e38)  # all parts empty: no -inf minus -inf
    weight = tl.where(total > 0, tl.exp2(peak - highest) * total, 0.0)
    inside = offs_k[None, :] < HEAD_SIZE
    offs_part = (row * SPLITS + offs_p[:, None]) * HEAD_SIZE + offs_k[None, :]
    part = tl.load(part_ptr + offs_part, mask=inside, other=0.0)
    everything = tl.sum(weight, axis=0)
    out = tl.sum(part * weight[:, None], axis=0) / tl.where(everything > 0, everything, 1.0)
    tl.store(out_ptr + row * HEAD_SIZE + offs_k, out, mask=offs_k < HEAD_SIZE)


class Shape(NamedTuple):
    """What decides the tile."""

    requests: int
    kv_heads: int
    group: int  # query heads of one K/V head
    head_size: int
    capacity: int  # tokens that a row of the block table can name
    itemsize: int  # bytes of one number of q


class Tile(NamedTuple):
    """How the work is cut."""

    block_r: int  # queries of a group at a time
    block_n: int  # tokens at a time
    splits: int  # parts of a context; a power of two
    dot: bool  # tensor cores
    num_warps: int
    num_stages: int


def tile_for(capability: int, shape: Shape) -> Tile:
    """The tile for a card and a shape: a plain rule, the same every time.

    Tensor cores where there are several queries a group and 16-bit numbers; else multiply and sum,
    with at most 64 products a thread in registers.
    """
    block_k, block_r = power_of_two(shape.head_size), power_of_two(shape.group)
    dot = has_tensor_dot(capability) and shape.itemsize == 2 and shape.group > 1 and block_k >= 16
    if dot:
        block_r, num_warps = min(max(block_r, 16), 64), 4
        block_n = max(16, min(64, 8192 // block_k))
    else:
        num_warps = 4 if shape.group < 4 else 8
        products = 64 * 32 * num_warps
        block_r = max(1, min(8, block_r, products // (8 * block_k)))  # 16: Triton makes it a dot
        block_n = max(8, min(32, products // (block_r * block_k)))
    programs = 4 * multiprocessors(capability)
    pieces = shape.kv_heads * -(-shape.group // block_r)
    wanted = programs // max(shape.requests * pieces, 1)
    useful = -(-shape.capacity // block_n)
    splits = max(1, min(32, power_of_two(wanted + 1) // 2, power_of_two(useful)))
    return Tile(block_r, block_n, splits, dot, num_warps, 2)


def fits(q_SHK) -> bool:
    """A head's numbers lie side by side."""
    return q_SHK.stride(2) == 1


def paged_attention(q_SHK, k_NGK, v_NGK, block_table_SM, len_S, block_size, scale, window=None,
                    k_scale_NG=None, v_scale_NG=None, tile: Tile | None = None):  # fmt: skip
    """Each request's one query over its own tokens in the pool -> [S, H, K], dtype of q.

    k_NGK, v_NGK: the pool of one layer, N slots. int8 ones come with scales. A request of length 0
    gets zeros. window: the last so many tokens only. tile: None is tile_for's.
    """
    requests, heads, size = q_SHK.shape
    kv_heads = k_NGK.shape[1]
    capacity = block_table_SM.shape[1] * block_size
    shape = Shape(requests, kv_heads, heads // kv_heads, size, capacity, q_SHK.element_size())
    tile = tile or tile_for(capability_of(q_SHK.device), shape)
    assert k_NGK.stride() == v_NGK.stride() and k_NGK.stride(2) == q_SHK.stride(2) == 1
    out_SHK = torch.empty(q_SHK.shape, dtype=q_SHK.dtype, device=q_SHK.device)
    wide = {"dtype": torch.float32, "device": q_SHK.device}
    part, peak, total = out_SHK, out_SHK, out_SHK  # not touched where there is one part
    if tile.splits > 1:
        part = torch.empty(requests, heads, tile.splits, size, **wide)
        peak, total = torch.empty(2, requests, heads, tile.splits, **wide)
    int8 = k_scale_NG is not None
    k_scale, v_scale = (k_scale_NG, v_scale_NG) if int8 else (peak, peak)
    pieces = kv_heads * triton.cdiv(shape.group, tile.block_r)
    split_kernel[(requests, pieces, tile.splits)](
        q_SHK, k_NGK, v_NGK, k_scale, v_scale, block_table_SM, len_S, part, peak, total,
        scale * math.log2(math.e), q_SHK.stride(0), q_SHK.stride(1), k_NGK.stride(0),
        k_NGK.stride(1), k_scale_NG.stride(0) if int8 else 0, block_table_SM.stride(0),
        **_constants(shape, tile, block_size, window, int8),
        num_warps=tile.num_warps, num_stages=tile.num_stages,
    )  # fmt: skip
    if tile.splits > 1:
        block_k = power_of_two(size)
        join_kernel[(requests * heads,)](
            part, peak, total, out_SHK, HEAD_SIZE=size, SPLITS=tile.splits, BLOCK_K=block_k,
            num_warps=4,
        )  # fmt: skip
    return out_SHK


def _constants(shape: Shape, tile: Tile, page: int, window: int | None, int8: bool) -> dict:
    return {
        "HEADS": shape.kv_heads * shape.group, "GROUP": shape.group, "HEAD_SIZE": shape.head_size,
        "PAGE": page, "WINDOW": window or 0, "INT8": int8, "DOT": tile.dot, "SPLITS": tile.splits,
        "BLOCK_R": tile.block_r, "BLOCK_K": power_of_two(shape.head_size),
        "BLOCK_N": tile.block_n,
    }  # fmt: skip


POOL = ("k_ptr", "v_ptr")  # what may lie beyond 4 GiB
SCALES = ("k_scale_ptr", "v_scale_ptr")
# name, (G, H / G, K), page, window, type of q, type of the pool
BUILDS = (
    ("32/8 x 128", (8, 4, 128), 16, None, "fp16", "fp16"),
    ("28/4 x 128, int8", (4, 7, 128), 16, None, "fp16", "i8"),
    ("5/1 x 64, pages of 8, fp32", (1, 5, 64), 8, None, "fp32", "fp32"),
    ("4/1 x 256, window", (1, 4, 256), 16, 512, "fp16", "fp16"),
    ("71/1 x 64", (1, 71, 64), 16, None, "fp16", "fp16"),
    ("16/2 x 512", (2, 8, 512), 16, None, "fp16", "i8"),
    ("32/32 x 80", (32, 1, 80), 32, None, "fp16", "fp16"),
    ("24/4 x 128, bf16", (4, 6, 128), 16, None, "bf16", "bf16"),
    ("40/8 x 128, bf16 over int8", (8, 5, 128), 16, None, "bf16", "i8"),
)


def builds(capability: int) -> list[Build]:
    """What the ahead-of-time table compiles for this card."""
    found = []
    for name, (kv_heads, group, size), page, window, q_type, kv_type in BUILDS:
        if q_type == "bf16" and not has_bf16(capability):
            continue
        shape = Shape(8, kv_heads, group, size, 8192, 4 if q_type == "fp32" else 2)
        tile = tile_for(capability, shape)
        part = q_type if tile.splits == 1 else "fp32"
        types = {
            "q_ptr": q_type, "k_ptr": kv_type, "v_ptr": kv_type, "k_scale_ptr": "fp32",
            "v_scale_ptr": "fp32", "table_ptr": "i64", "len_ptr": "i64", "out_ptr": part,
            "peak_ptr": "fp32", "total_ptr": "fp32",
        }  # fmt: skip
        constants = _constants(shape, tile, page, window, kv_type == "i8")
        wide = POOL + SCALES if kv_type == "i8" else POOL
        found.append(Build(f"split {name}", split_kernel, types, constants,
                           tile.num_warps, tile.num_stages, mma=tile.dot, wide=wide))  # fmt: skip
    types = {"part_ptr": "fp32", "peak_ptr": "fp32", "total_ptr": "fp32", "out_ptr": "fp16"}
    for size in (64, 256):
        constants = {"HEAD_SIZE": size, "SPLITS": 32, "BLOCK_K": size}
        found.append(Build(f"join 32 parts x {size}", join_kernel, types, constants, 4, 2))
    return found
