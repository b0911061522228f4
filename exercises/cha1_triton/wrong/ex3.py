"""Named wrong answers of A1.3."""

import triton
import triton.language as tl


@triton.jit
def _gemv(
    w_ptr, x_ptr, out_ptr, rows, columns, step_o, step_i, limit_o, limit_i, write, until,
    PRODUCT: tl.constexpr, TILE: tl.constexpr, TOTAL: tl.constexpr,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    offs_o = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS], dtype=TOTAL)
    for start in range(0, until, COLS):
        offs_i = start + tl.arange(0, COLS)
        mask = (offs_o[:, None] < limit_o) & (offs_i[None, :] < limit_i)
        places = offs_o[:, None] * step_o + offs_i[None, :] * step_i
        w = tl.load(w_ptr + places, mask=mask, other=0.0).to(PRODUCT)
        x = tl.load(x_ptr + offs_i, mask=offs_i < columns, other=0.0).to(PRODUCT)
        total = (total + tl.sum((w * x[None, :]).to(TILE), axis=1)).to(TOTAL)
    tl.store(out_ptr + offs_o, total.to(tl.float32), mask=offs_o < write)


def _run(w_OI, x_I, out_O, product=tl.float32, tile=tl.float32, total=tl.float32, **more):
    rows, columns = w_OI.shape
    use = dict(step_o=w_OI.stride(0), step_i=1, limit_o=rows, limit_i=columns)
    use |= dict(write=rows, until=columns) | more
    _gemv[(triton.cdiv(rows, 16),)](
        w_OI, x_I, out_O, rows, columns, **use,
        PRODUCT=product, TILE=tile, TOTAL=total, ROWS=16, COLS=64,
    )  # fmt: skip


def sum_in_16_bit(w_OI, x_I, out_O):
    """adding up in 16 bit"""
    _run(w_OI, x_I, out_O, product=tl.float16, tile=tl.float16, total=tl.float16)


def no_conversion(w_OI, x_I, out_O):
    """no .to(tl.float32) after the loads: products, and the sum of a tile, in 16 bit"""
    _run(w_OI, x_I, out_O, product=tl.float16, tile=tl.float16)


def products_in_16_bit(w_OI, x_I, out_O):
    """products in 16 bit: they are rounded before they come into the 32-bit sum"""
    _run(w_OI, x_I, out_O, product=tl.float16)


def no_mask_for_the_rows(w_OI, x_I, out_O):
    """no mask for the rows of the weights: the last tile reads behind the matrix"""
    _run(w_OI, x_I, out_O, limit_o=2**30)


def writes_a_whole_tile(w_OI, x_I, out_O):
    """no mask on the store: the last tile writes behind the result"""
    _run(w_OI, x_I, out_O, write=2**30)


def no_mask_for_the_columns(w_OI, x_I, out_O):
    """no mask for the columns of the weights: they run on into the next row"""
    _run(w_OI, x_I, out_O, limit_i=2**30)


def first_tile_only(w_OI, x_I, out_O):
    """the first COLS columns only: no loop"""
    _run(w_OI, x_I, out_O, until=64)


def transposed(w_OI, x_I, out_O):
    """the strides of rows and columns exchanged"""
    _run(w_OI, x_I, out_O, step_o=1, step_i=w_OI.stride(0))


def rows_side_by_side(w_OI, x_I, out_O):
    """num_columns in place of row_stride: right only where the rows lie side by side"""
    _run(w_OI, x_I, out_O, step_o=w_OI.shape[1])


def first_2048_only(w_OI, x_I, out_O):
    """the first 2,048 columns only: one wide tile and no loop"""
    _run(w_OI, x_I, out_O, until=min(2048, w_OI.shape[1]))
