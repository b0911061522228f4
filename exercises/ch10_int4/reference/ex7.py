"""Reference of 10.7."""

import triton
import triton.language as tl


@triton.jit
def int4_gemv_kernel(
    words_ptr, scale_ptr, x_ptr, out_ptr, N, K, group,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    offs_n = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total_N = tl.zeros([ROWS], dtype=tl.float32)
    for start in range(0, K, COLS):
        offs_k = start + tl.arange(0, COLS)
        mask = (offs_n < N)[:, None] & (offs_k < K)[None, :]
        at_word = offs_n[:, None] * (K // 8) + (offs_k // 8)[None, :]
        word = tl.load(words_ptr + at_word, mask=mask, other=0)
        q = ((word >> (offs_k % 8 * 4)[None, :]) & 15) - 8
        at_scale = offs_n[:, None] * (K // group) + (offs_k // group)[None, :]
        scale = tl.load(scale_ptr + at_scale, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offs_k, mask=offs_k < K, other=0.0).to(tl.float32)
        total_N += tl.sum(q.to(tl.float32) * scale * x[None, :], axis=1)
    tl.store(out_ptr + offs_n, total_N, mask=offs_n < N)


def int4_gemv(words_NW, scale_NG, x_K, group, out_N):
    N, K = len(words_NW), len(x_K)
    int4_gemv_kernel[(triton.cdiv(N, 16),)](
        words_NW, scale_NG, x_K, out_N, N, K, group, ROWS=16, COLS=64
    )
