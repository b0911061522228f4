"""Other right answers of 9.7."""

import triton
import triton.language as tl


@triton.jit
def _one_row(codes_ptr, scale_ptr, x_ptr, out_ptr, K, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, K, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        codes = tl.load(codes_ptr + row * row_stride + offs, mask=offs < K, other=0)
        x = tl.load(x_ptr + offs, mask=offs < K, other=0.0)
        total += codes.to(tl.float32) * x.to(tl.float32)
    tl.store(out_ptr + row, tl.sum(total) * tl.load(scale_ptr + row))


def a_program_a_row(codes_NK, scale_N, x_K, out_N):
    N, K = codes_NK.shape
    _one_row[(N,)](codes_NK, scale_N, x_K, out_N, K, codes_NK.stride(0), BLOCK=256)


@triton.jit
def _scaled_tile(
    codes_ptr, scale_ptr, x_ptr, out_ptr, N, K, row_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    offs_n = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    scale = tl.load(scale_ptr + offs_n, mask=offs_n < N, other=0.0)
    total = tl.zeros([ROWS, COLS], dtype=tl.float32)
    for start in range(0, K, COLS):
        offs_k = start + tl.arange(0, COLS)
        mask = (offs_n[:, None] < N) & (offs_k[None, :] < K)
        places = offs_n[:, None] * row_stride + offs_k[None, :]
        weight = tl.load(codes_ptr + places, mask=mask, other=0).to(tl.float32) * scale[:, None]
        x = tl.load(x_ptr + offs_k, mask=offs_k < K, other=0.0)
        total += weight * x.to(tl.float32)[None, :]
    tl.store(out_ptr + offs_n, tl.sum(total, axis=1), mask=offs_n < N)


def weights_inside_the_program(codes_NK, scale_N, x_K, out_N):
    N, K = codes_NK.shape
    grid = (triton.cdiv(N, 8),)
    stride = codes_NK.stride(0)
    _scaled_tile[grid](codes_NK, scale_N, x_K, out_N, N, K, stride, ROWS=8, COLS=128)
