"""Exercise A1.2: the sum of every row of a matrix.

One program takes one row. A block has BLOCK lanes, and a row may be longer: walk along the row in
steps of BLOCK, add into a vector of BLOCK partial sums, and add those up once, at the end.
(tl.sum in every step gives the same numbers and is accepted: it costs more steps across the lanes.)

A matrix is a line of numbers. Element [r, c] lies at r * row_stride + c. The stride may be larger
than the number of columns: what lies between two rows is not yours (NaN). The kernel is told:

    out[r] = sum over c of x[r, c]        for c = 0 .. num_columns-1

A masked lane must add nothing: tl.load(..., mask=mask, other=0.0). A loop over a number that only
the call knows is a plain `for start in range(0, num_columns, BLOCK)`.
"""

import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, out_ptr, num_columns, row_stride, BLOCK: tl.constexpr):
    raise NotImplementedError("Exercise A1.2: one row, in steps of BLOCK")


def row_sum(x_RC, out_R) -> None:
    """x_RC: float32 [R, C] with any row stride. Writes the sum of each row to out_R."""
    rows, columns = x_RC.shape
    row_sum_kernel[(rows,)](x_RC, out_R, columns, x_RC.stride(0), BLOCK=256)
