"""Named wrong answers of 9.7."""

import triton
import triton.language as tl


@triton.jit
def _gemv(
    codes_ptr, scale_ptr, x_ptr, out_ptr, N, K, step_n, step_k, limit_n, limit_k, write, until,
    SCALE: tl.constexpr, PRODUCT: tl.constexpr, TOTAL: tl.constexpr, X: tl.constexpr,
    UNSIGNED: tl.constexpr, OTHER: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    lanes = tl.arange(0, ROWS)
    offs_n = tl.program_id(0) * ROWS + lanes
    total = tl.zeros([ROWS], dtype=TOTAL)
    for start in range(0, until, COLS):
        offs_k = start + tl.arange(0, COLS)
        mask = (offs_n[:, None] < limit_n) & (offs_k[None, :] < limit_k)
        places = offs_n[:, None] * step_n + offs_k[None, :] * step_k
        codes = tl.load(codes_ptr + places, mask=mask, other=0).to(tl.int32)
        if UNSIGNED:
            codes = codes & 255
        if OTHER:
            x = tl.load(x_ptr + offs_k, mask=offs_k < K, other=0.0).to(X).to(PRODUCT)
        else:
            x = tl.load(x_ptr + offs_k, mask=offs_k < K).to(X).to(PRODUCT)
        total = (total + tl.sum(codes.to(PRODUCT) * x[None, :], axis=1)).to(TOTAL)
    scale = tl.zeros([ROWS], tl.float32) + 1.0
    if SCALE == "row":
        scale = tl.load(scale_ptr + offs_n, mask=offs_n < N, other=0.0)
    if SCALE == "lane":
        scale = tl.load(scale_ptr + lanes, mask=lanes < N, other=0.0)
    if SCALE == "first":
        scale = scale * tl.load(scale_ptr)
    if SCALE == "program":
        scale = scale * tl.load(scale_ptr + tl.program_id(0))
    tl.store(out_ptr + offs_n, total.to(tl.float32) * scale, mask=offs_n < write)


def _run(codes_NK, scale_N, x_K, out_N, scale="row", product=tl.float32, total=tl.float32,
         x=tl.float32, unsigned=False, other=True, **more):  # fmt: skip
    N, K = codes_NK.shape
    use = dict(step_n=codes_NK.stride(0), step_k=1, limit_n=N, limit_k=K, write=N, until=K) | more
    _gemv[(triton.cdiv(N, 16),)](
        codes_NK, scale_N, x_K, out_N, N, K, **use,
        SCALE=scale, PRODUCT=product, TOTAL=total, X=x, UNSIGNED=unsigned, OTHER=other,
        ROWS=16, COLS=64,
    )  # fmt: skip


def no_scale(codes_NK, scale_N, x_K, out_N):
    """leaving out the scale"""
    _run(codes_NK, scale_N, x_K, out_N, scale="none")


def one_scale_for_all(codes_NK, scale_N, x_K, out_N):
    """the scale of row 0 for every row"""
    _run(codes_NK, scale_N, x_K, out_N, scale="first")


def scales_of_the_first_tile(codes_NK, scale_N, x_K, out_N):
    """the scales of rows 0 to 15 in every program: the program's number is missing there"""
    _run(codes_NK, scale_N, x_K, out_N, scale="lane")


def a_scale_a_program(codes_NK, scale_N, x_K, out_N):
    """one scale for a whole program (scale_ptr + its number): each of its rows has a scale"""
    _run(codes_NK, scale_N, x_K, out_N, scale="program")


def no_other(codes_NK, scale_N, x_K, out_N):
    """a load without other: what a masked lane reads is undefined, in a sum give it other=0.0"""
    _run(codes_NK, scale_N, x_K, out_N, other=False)


def products_in_16_bit(codes_NK, scale_N, x_K, out_N):
    """codes and x in 16 bit: the products are rounded, and so is the sum of a step"""
    _run(codes_NK, scale_N, x_K, out_N, product=tl.float16)


def unsigned_codes(codes_NK, scale_N, x_K, out_N):
    """codes read as 0 to 255: -1 becomes 255"""
    _run(codes_NK, scale_N, x_K, out_N, unsigned=True)


def x_in_int8(codes_NK, scale_N, x_K, out_N):
    """x turned into int8, as the codes are: what is behind its point is gone"""
    _run(codes_NK, scale_N, x_K, out_N, x=tl.int8)


def sum_in_16_bit(codes_NK, scale_N, x_K, out_N):
    """products and sums in 16 bit"""
    _run(codes_NK, scale_N, x_K, out_N, product=tl.float16, total=tl.float16)


def no_conversion(codes_NK, scale_N, x_K, out_N):
    """no .to(tl.float32) after the loads: where x has 16 bits, so have products and a step's sum"""
    product = tl.float16 if x_K.element_size() == 2 else tl.float32
    _run(codes_NK, scale_N, x_K, out_N, product=product)


def no_mask_for_the_rows(codes_NK, scale_N, x_K, out_N):
    """no mask for the rows of the codes: the last tile reads behind the matrix"""
    _run(codes_NK, scale_N, x_K, out_N, limit_n=2**30)


def no_mask_for_the_columns(codes_NK, scale_N, x_K, out_N):
    """no mask for the columns of the codes: they run on into the next row"""
    _run(codes_NK, scale_N, x_K, out_N, limit_k=2**30)


def writes_a_whole_tile(codes_NK, scale_N, x_K, out_N):
    """no mask on the store: the last tile writes behind the result"""
    _run(codes_NK, scale_N, x_K, out_N, write=2**30)


def rows_side_by_side(codes_NK, scale_N, x_K, out_N):
    """K in place of row_stride: right only where the rows lie side by side"""
    _run(codes_NK, scale_N, x_K, out_N, step_n=codes_NK.shape[1])


def whole_steps_only(codes_NK, scale_N, x_K, out_N):
    """K // COLS steps: the columns after the last whole tile are missing"""
    _run(codes_NK, scale_N, x_K, out_N, until=codes_NK.shape[1] // 64 * 64)


def first_tile_only(codes_NK, scale_N, x_K, out_N):
    """the first COLS columns only: no loop"""
    _run(codes_NK, scale_N, x_K, out_N, until=64)
