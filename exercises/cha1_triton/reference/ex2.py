"""Reference of A1.2."""

import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, num_columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total_B = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, num_columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < num_columns
        total_B += tl.load(x_ptr + row * row_stride + offs, mask=mask, other=0.0)
    tl.store(out_ptr + row, tl.sum(total_B, axis=0))


def row_sum(x_RC, out_R):
    rows, columns = x_RC.shape
    row_sum_kernel[(rows,)](x_RC, out_R, columns, x_RC.stride(0), BLOCK=256)
