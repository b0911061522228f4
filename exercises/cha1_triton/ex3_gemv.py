"""Exercise A1.3: a matrix of 16-bit weights times one vector (GEMV).

This is what decoding one token does with every weight matrix: each weight is read once and used
once. A program takes a tile: ROWS output rows, and it walks along the columns in steps of COLS.

    out[o] = sum over i of w[o, i] * x[i]

The weights are read in 16 bit: that is what saves bytes. Multiply and add in 32 bit: convert with
.to(tl.float32) right after the load. A sum of thousands of products in 16 bit loses the last ones.
A sum across the columns in every step is right, and so is a tile of partial sums, added once at
the end: the second has fewer steps across the lanes.

Neither the rows nor the columns need to fill a tile: mask both. `[:, None]` makes a column of a
vector, `[None, :]` a row; added, they are the tile's offsets [ROWS, COLS].
"""

import triton
import triton.language as tl


@triton.jit
def gemv_kernel(
    w_ptr, x_ptr, out_ptr, num_rows, num_columns, row_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    raise NotImplementedError("Exercise A1.3: a tile of rows, walking along the columns")


def gemv(w_OI, x_I, out_O) -> None:
    """w_OI: float16 [O, I]. x_I: float16 [I]. Writes w @ x to out_O, float32 [O]."""
    rows, columns = w_OI.shape
    grid = (triton.cdiv(rows, 16),)
    gemv_kernel[grid](w_OI, x_I, out_O, rows, columns, w_OI.stride(0), ROWS=16, COLS=64)
