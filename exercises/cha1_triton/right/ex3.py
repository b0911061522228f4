"""Other right answers of A1.3."""

import triton
import triton.language as tl


@triton.jit
def _one_row(w_ptr, x_ptr, out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        w = tl.load(w_ptr + row * row_stride + offs, mask=offs < columns, other=0.0)
        x = tl.load(x_ptr + offs, mask=offs < columns, other=0.0)
        total += w.to(tl.float32) * x.to(tl.float32)
    tl.store(out_ptr + row, tl.sum(total))


def a_program_a_row(w_OI, x_I, out_O):
    rows, columns = w_OI.shape
    _one_row[(rows,)](w_OI, x_I, out_O, columns, w_OI.stride(0), BLOCK=256)


@triton.jit
def _tile(w_ptr, x_ptr, out_ptr, rows, columns, stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    offs_o = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, COLS], dtype=tl.float32)
    for start in range(0, columns, COLS):
        offs_i = start + tl.arange(0, COLS)
        mask = (offs_o[:, None] < rows) & (offs_i[None, :] < columns)
        w = tl.load(w_ptr + offs_o[:, None] * stride + offs_i[None, :], mask=mask, other=0.0)
        x = tl.load(x_ptr + offs_i, mask=offs_i < columns, other=0.0)
        total += w.to(tl.float32) * x.to(tl.float32)[None, :]
    tl.store(out_ptr + offs_o, tl.sum(total, axis=1), mask=offs_o < rows)


def a_tile_of_partial_sums(w_OI, x_I, out_O):
    rows, columns = w_OI.shape
    grid = (triton.cdiv(rows, 8),)
    _tile[grid](w_OI, x_I, out_O, rows, columns, w_OI.stride(0), ROWS=8, COLS=128)
