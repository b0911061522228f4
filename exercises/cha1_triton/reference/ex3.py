"""Reference of A1.3."""

import triton
import triton.language as tl


@triton.jit
def gemv_kernel(
    w_ptr, x_ptr, out_ptr, num_rows, num_columns, row_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    offs_o = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    mask_o = offs_o < num_rows
    total_O = tl.zeros([ROWS], dtype=tl.float32)
    for start in range(0, num_columns, COLS):
        offs_i = start + tl.arange(0, COLS)
        mask_i = offs_i < num_columns
        places = offs_o[:, None] * row_stride + offs_i[None, :]
        mask = mask_o[:, None] & mask_i[None, :]
        w = tl.load(w_ptr + places, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offs_i, mask=mask_i, other=0.0).to(tl.float32)
        total_O += tl.sum(w * x[None, :], axis=1)
    tl.store(out_ptr + offs_o, total_O, mask=mask_o)


def gemv(w_OI, x_I, out_O):
    rows, columns = w_OI.shape
    grid = (triton.cdiv(rows, 16),)
    gemv_kernel[grid](w_OI, x_I, out_O, rows, columns, w_OI.stride(0), ROWS=16, COLS=64)
