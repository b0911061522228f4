"""Exercise 9.7: int8 weights times one vector, as a Triton kernel (do appendix A1 first).

This is program 3 of chapter 09: int8 is what is read from memory, and no float matrix is ever made.
Weight [n, k] = code [n, k] * scale [n]. The scale belongs to the whole row, so it may come last:

    out[n] = scale[n] * (sum over k of codes[n, k] * x[k])

A program takes a tile: ROWS rows, and it walks along the columns in steps of COLS, as in A1.3. Turn
codes and x into float32 right after the load: an int8 has no room for a product, and 16 bits none
for a long sum.

N and K are odd, so mask rows and columns. Row n of the codes begins at n * row_stride, and
what lies between two rows is not yours. The scales lie side by side: scale[n] at scale_ptr + n.
"""

import triton
import triton.language as tl


@triton.jit
def int8_gemv_kernel(
    codes_ptr, scale_ptr, x_ptr, out_ptr, N, K, row_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    raise NotImplementedError("Exercise 9.7: a tile of codes, a sum a row, then the scale")


def int8_gemv(codes_NK, scale_N, x_K, out_N) -> None:
    """int8 [N, K], float32 [N], float16 or float32 [K]. Writes the product to out_N, float32."""
    N, K = codes_NK.shape
    int8_gemv_kernel[(triton.cdiv(N, 16),)](
        codes_NK, scale_N, x_K, out_N, N, K, codes_NK.stride(0), ROWS=16, COLS=64
    )
