"""Exercise 10.7: packed int4 weights times one vector, as a Triton kernel (after A1 and 9.7).

Eight codes q of a row, each -8 .. 7, share one int32 word. A word holds q + 8, so 0 .. 15, the
first of the eight in its lowest 4 bits:

    q[n, k] = bits of word [n, k // 8], 4 of them from bit 4 * (k % 8) on, minus 8

One scale belongs to `group` codes that follow each other in a row:

    out[n] = sum over k of q[n, k] * scale[n, k // group] * x[k]

As in 9.7, a program takes ROWS rows and walks along the columns in steps of COLS. A step may hold
the end of one group and the beginning of the next, so every lane has its own scale. Neighbour
lanes may load the same word: it comes from memory once. No matrix of codes is ever written.

K is a multiple of 8 and of group; N and K fill no tile. All tensors are contiguous: [N, K // 8]
words, [N, K // group] scales. `word >> s` shifts right, `word & 15` keeps 4 bits (the sign of a
word does no harm, then). Multiply and add in float32.
"""

import triton
import triton.language as tl


@triton.jit
def int4_gemv_kernel(
    words_ptr, scale_ptr, x_ptr, out_ptr, N, K, group,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    raise NotImplementedError("Exercise 10.7: shift, mask 4 bits, minus 8, a scale a lane")


def int4_gemv(words_NW, scale_NG, x_K, group, out_N) -> None:
    """int32 [N, K // 8], float16 [N, K // group], float16 [K]. Writes float32 to out_N."""
    N, K = len(words_NW), len(x_K)
    int4_gemv_kernel[(triton.cdiv(N, 16),)](
        words_NW, scale_NG, x_K, out_N, N, K, group, ROWS=16, COLS=64
    )
