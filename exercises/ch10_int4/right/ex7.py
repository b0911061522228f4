"""Other right answers of 10.7."""

import triton
import triton.language as tl


@triton.jit
def _words(
    words_ptr, scale_ptr, x_ptr, out_ptr, N, K, group,
    ROWS: tl.constexpr, WORDS: tl.constexpr,
):  # fmt: skip
    """A word is loaded once and gives eight codes; a group is a multiple of 8, so one scale."""
    offs_n = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, WORDS], dtype=tl.float32)
    for start in range(0, K // 8, WORDS):
        offs_w = start + tl.arange(0, WORDS)
        mask = (offs_n < N)[:, None] & (offs_w < K // 8)[None, :]
        word = tl.load(words_ptr + offs_n[:, None] * (K // 8) + offs_w[None, :], mask=mask, other=0)
        at_scale = offs_n[:, None] * (K // group) + (offs_w * 8 // group)[None, :]
        part = tl.zeros([ROWS, WORDS], dtype=tl.float32)
        for i in tl.static_range(8):
            x = tl.load(x_ptr + offs_w * 8 + i, mask=offs_w < K // 8, other=0.0).to(tl.float32)
            part += (((word >> (4 * i)) & 15) - 8).to(tl.float32) * x[None, :]
        total += part * tl.load(scale_ptr + at_scale, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + offs_n, tl.sum(total, axis=1), mask=offs_n < N)


def eight_codes_of_a_word(words_NW, scale_NG, x_K, group, out_N):
    N, K = len(words_NW), len(x_K)
    grid = (triton.cdiv(N, 8),)
    _words[grid](words_NW, scale_NG, x_K, out_N, N, K, group, ROWS=8, WORDS=16)


@triton.jit
def _groups(words_ptr, scale_ptr, x_ptr, out_ptr, K, group, BLOCK: tl.constexpr):
    """A row: sums of whole groups, each times its scale."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    total = 0.0
    for g in range(0, K // group):
        at = g * group + offs
        word = tl.load(words_ptr + row * (K // 8) + at // 8, mask=offs < group, other=0)
        x = tl.load(x_ptr + at, mask=offs < group, other=0.0).to(tl.float32)
        q = ((word >> (at % 8 * 4)) & 15).to(tl.float32) - 8.0
        scale = tl.load(scale_ptr + row * (K // group) + g).to(tl.float32)
        total += tl.sum(q * x, axis=0) * scale
    tl.store(out_ptr + row, total)


def group_by_group(words_NW, scale_NG, x_K, group, out_N):
    block = triton.next_power_of_2(group)
    _groups[(len(words_NW),)](words_NW, scale_NG, x_K, out_N, len(x_K), group, BLOCK=block)
