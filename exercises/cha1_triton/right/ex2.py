"""Other right answers of A1.2."""

import triton
import triton.language as tl


@triton.jit
def _whole_row(x_ptr, out_ptr, num_columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + offs, mask=offs < num_columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


def one_block_as_wide_as_a_row(x_RC, out_R):
    rows, columns = x_RC.shape
    block = triton.next_power_of_2(columns)
    _whole_row[(rows,)](x_RC, out_R, columns, x_RC.stride(0), BLOCK=block)


@triton.jit
def _four_rows(x_ptr, out_ptr, rows, columns, row_stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    offs_r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offs_c = start + tl.arange(0, BLOCK)
        mask = (offs_r < rows)[:, None] & (offs_c < columns)[None, :]
        places = offs_r[:, None] * row_stride + offs_c[None, :]
        total += tl.sum(tl.load(x_ptr + places, mask=mask, other=0.0), axis=1)
    tl.store(out_ptr + offs_r, total, mask=offs_r < rows)


def a_tile_of_four_rows(x_RC, out_R):
    rows, columns = x_RC.shape
    grid = (triton.cdiv(rows, 4),)
    _four_rows[grid](x_RC, out_R, rows, columns, x_RC.stride(0), ROWS=4, BLOCK=64)
