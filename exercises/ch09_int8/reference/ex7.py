"""Reference of 9.7."""

import triton
import triton.language as tl


@triton.jit
def int8_gemv_kernel(
    codes_ptr, scale_ptr, x_ptr, out_ptr, N, K, row_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    offs_n = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    mask_n = offs_n < N
    total_N = tl.zeros([ROWS], dtype=tl.float32)
    for start in range(0, K, COLS):
        offs_k = start + tl.arange(0, COLS)
        mask_k = offs_k < K
        places = offs_n[:, None] * row_stride + offs_k[None, :]
        mask = mask_n[:, None] & mask_k[None, :]
        codes = tl.load(codes_ptr + places, mask=mask, other=0)
        x = tl.load(x_ptr + offs_k, mask=mask_k, other=0.0).to(tl.float32)
        total_N += tl.sum(codes.to(tl.float32) * x[None, :], axis=1)
    scale = tl.load(scale_ptr + offs_n, mask=mask_n, other=0.0)
    tl.store(out_ptr + offs_n, total_N * scale, mask=mask_n)


def int8_gemv(codes_NK, scale_N, x_K, out_N):
    N, K = codes_NK.shape
    int8_gemv_kernel[(triton.cdiv(N, 16),)](
        codes_NK, scale_N, x_K, out_N, N, K, codes_NK.stride(0), ROWS=16, COLS=64
    )
