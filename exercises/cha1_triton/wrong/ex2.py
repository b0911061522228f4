"""Named wrong answers of A1.2."""

import triton
import triton.language as tl


@triton.jit
def _sum(x_ptr, out_ptr, row_step, column_step, row_stride, until, limit, other, keep,
         BLOCK: tl.constexpr):  # fmt: skip
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, until, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        places = row * row_step + offs * column_step
        total = total * keep + tl.load(x_ptr + places, mask=offs < limit, other=other)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


def _run(x_RC, out_R, row_step=None, column_step=1, until=None, limit=None, other=0.0, keep=1.0):
    rows, columns = x_RC.shape
    row_step = x_RC.stride(0) if row_step is None else row_step
    until, limit = until or columns, limit or columns
    stride = x_RC.stride(0)
    _sum[(rows,)](x_RC, out_R, row_step, column_step, stride, until, limit, other, keep, 256)


def no_mask(x_RC, out_R):
    """no mask: every row's last block reads on, into what lies behind the row"""
    _run(x_RC, out_R, limit=2**30)


def rows_side_by_side(x_RC, out_R):
    """row * num_columns instead of row * row_stride: right only where the rows lie side by side"""
    _run(x_RC, out_R, row_step=x_RC.shape[1])


def first_block_only(x_RC, out_R):
    """the first block of every row only: no loop along the row"""
    _run(x_RC, out_R, until=256)


def last_block_only(x_RC, out_R):
    """= instead of +=: every block of a row replaces the ones before"""
    _run(x_RC, out_R, keep=0.0)


def masked_lanes_count_one(x_RC, out_R):
    """masked lanes that count as 1, because of other=1.0"""
    _run(x_RC, out_R, other=1.0)


def first_row_everywhere(x_RC, out_R):
    """the first row in every program: the program's number is not used"""
    _run(x_RC, out_R, row_step=0)


def down_the_columns(x_RC, out_R):
    """steps of row_stride inside a program: it walks down a column, not along a row"""
    _run(x_RC, out_R, row_step=1, column_step=x_RC.stride(0), limit=x_RC.shape[0])


@triton.jit
def _no_other(x_ptr, out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * row_stride + offs, mask=offs < columns)
    tl.store(out_ptr + row, tl.sum(total, axis=0))


def without_other(x_RC, out_R):
    """a mask without other=0.0: nobody knows what the masked lanes add (here NaN)"""
    _no_other[(len(x_RC),)](x_RC, out_R, x_RC.shape[1], x_RC.stride(0), 256)


def one_wide_block(x_RC, out_R):
    """one block of 4,096 lanes and no loop: the rest of a longer row is missing"""
    _run(x_RC, out_R, until=4096, limit=min(4096, x_RC.shape[1]))
