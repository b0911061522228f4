"""Named wrong answers of 10.7."""

import triton
import triton.language as tl


@triton.jit
def _gemv(
    words_ptr, scale_ptr, x_ptr, out_ptr, N, K, group, limit_n, limit_k, write, until,
    SLIP: tl.constexpr, PRODUCT: tl.constexpr, TOTAL: tl.constexpr,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):  # fmt: skip
    offs_n = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS], dtype=TOTAL)
    for start in range(0, until, COLS):
        offs_k = start + tl.arange(0, COLS)
        inside = (offs_n < N)[:, None] & (offs_k < K)[None, :]
        mask = (offs_n < limit_n)[:, None] & (offs_k < limit_k)[None, :]
        stride = K if SLIP == "stride" else K // 8
        word = tl.load(
            words_ptr + offs_n[:, None] * stride + (offs_k // 8)[None, :], mask=mask, other=0
        )
        place = offs_k % 8
        if SLIP == "descending":
            place = 7 - place
        if SLIP == "interleaved":
            place = place // 2 + place % 2 * 4
        q = word >> (place * 4)[None, :]
        if SLIP != "whole word":
            q = q & 15
        if SLIP == "complement":
            q = tl.where(q > 7, q - 16, q)
        elif SLIP != "unsigned":
            q = q - 8
        g = offs_k // group
        if SLIP == "step":
            g = start // group + offs_k * 0
        if SLIP == "row":
            g = offs_k * 0
        at_scale = offs_n[:, None] * (K // group) + g[None, :]
        if SLIP == "transposed":
            at_scale = g[None, :] * N + offs_n[:, None]
        scale = tl.load(scale_ptr + at_scale, mask=inside, other=0.0).to(PRODUCT)
        if SLIP == "no scale":
            scale = scale * 0.0 + 1.0
        x = tl.load(x_ptr + offs_k, mask=offs_k < K, other=0.0).to(PRODUCT)
        short, scale_16, x_16 = q.to(tl.float16), scale.to(tl.float16), x.to(tl.float16)[None, :]
        if SLIP == "16-bit products":
            product = (short * scale_16 * x_16).to(TOTAL)
        elif SLIP == "16-bit products, x first":
            product = (short * x_16 * scale_16).to(TOTAL)
        elif SLIP == "16-bit weights":
            product = (short * scale_16).to(TOTAL) * x[None, :]
        else:
            product = q.to(PRODUCT) * scale * x[None, :]
        total = (total + tl.sum(product, axis=1)).to(TOTAL)
    tl.store(out_ptr + offs_n, total.to(tl.float32), mask=offs_n < write)


def _run(words_NW, scale_NG, x_K, group, out_N, slip="", product=tl.float32, total=tl.float32,
         **more):  # fmt: skip
    N, K = len(words_NW), len(x_K)
    use = dict(limit_n=N, limit_k=K, write=N, until=K) | more
    _gemv[(triton.cdiv(N, 16),)](
        words_NW, scale_NG, x_K, out_N, N, K, group, **use,
        SLIP=slip, PRODUCT=product, TOTAL=total, ROWS=16, COLS=64,
    )  # fmt: skip


def highest_bits_first(words_NW, scale_NG, x_K, group, out_N):
    """the first code in the highest 4 bits of a word"""
    _run(words_NW, scale_NG, x_K, group, out_N, "descending")


def interleaved(words_NW, scale_NG, x_K, group, out_N):
    """codes in the order 0, 2, 4, 6, 1, 3, 5, 7 of an AWQ file"""
    _run(words_NW, scale_NG, x_K, group, out_N, "interleaved")


def no_minus_8(words_NW, scale_NG, x_K, group, out_N):
    """codes of 0 to 15: the 8 is not taken off"""
    _run(words_NW, scale_NG, x_K, group, out_N, "unsigned")


def twos_complement(words_NW, scale_NG, x_K, group, out_N):
    """4 bits read as two's complement, 15 as -1: here 15 is 7"""
    _run(words_NW, scale_NG, x_K, group, out_N, "complement")


def keeps_the_rest_of_the_word(words_NW, scale_NG, x_K, group, out_N):
    """no & 15 after the shift: the later codes of the word count, too"""
    _run(words_NW, scale_NG, x_K, group, out_N, "whole word")


def one_scale_a_step(words_NW, scale_NG, x_K, group, out_N):
    """one scale for all columns of a step, that of its first column"""
    _run(words_NW, scale_NG, x_K, group, out_N, "step")


def one_scale_a_row(words_NW, scale_NG, x_K, group, out_N):
    """the scale of a row's first group for the whole row"""
    _run(words_NW, scale_NG, x_K, group, out_N, "row")


def scales_transposed(words_NW, scale_NG, x_K, group, out_N):
    """scales read as if they lay [groups, N]"""
    _run(words_NW, scale_NG, x_K, group, out_N, "transposed")


def no_scale(words_NW, scale_NG, x_K, group, out_N):
    """leaving out the scales"""
    _run(words_NW, scale_NG, x_K, group, out_N, "no scale")


def sum_in_16_bit(words_NW, scale_NG, x_K, group, out_N):
    """products and sums in 16 bit"""
    _run(words_NW, scale_NG, x_K, group, out_N, product=tl.float16, total=tl.float16)


def no_conversion(words_NW, scale_NG, x_K, group, out_N):
    """no .to(tl.float32) after the loads: products, and the sum of a step, in 16 bit"""
    _run(words_NW, scale_NG, x_K, group, out_N, product=tl.float16)


def products_in_16_bit(words_NW, scale_NG, x_K, group, out_N):
    """products in 16 bit: convert each factor to tl.float32 before it is multiplied"""
    _run(words_NW, scale_NG, x_K, group, out_N, "16-bit products")


def products_in_16_bit_x_first(words_NW, scale_NG, x_K, group, out_N):
    """products in 16 bit: convert each factor, the scale too, to tl.float32 before"""
    _run(words_NW, scale_NG, x_K, group, out_N, "16-bit products, x first")


def weights_in_16_bit(words_NW, scale_NG, x_K, group, out_N):
    """code times scale in 16 bit, so each weight is rounded: convert both to tl.float32 first"""
    _run(words_NW, scale_NG, x_K, group, out_N, "16-bit weights")


def row_stride_in_codes(words_NW, scale_NG, x_K, group, out_N):
    """rows of words that are K apart: a row has K // 8 words"""
    _run(words_NW, scale_NG, x_K, group, out_N, "stride")


def no_mask_for_the_rows(words_NW, scale_NG, x_K, group, out_N):
    """no mask for the rows of the words: the last tile reads behind the matrix"""
    _run(words_NW, scale_NG, x_K, group, out_N, limit_n=2**30)


def no_mask_for_the_columns(words_NW, scale_NG, x_K, group, out_N):
    """no mask for the columns of the words: they run on into the next row"""
    _run(words_NW, scale_NG, x_K, group, out_N, limit_k=2**30)


def writes_a_whole_tile(words_NW, scale_NG, x_K, group, out_N):
    """no mask on the store: the last tile writes behind the result"""
    _run(words_NW, scale_NG, x_K, group, out_N, write=2**30)


def whole_steps_only(words_NW, scale_NG, x_K, group, out_N):
    """K // COLS steps: the columns after the last whole step are missing"""
    _run(words_NW, scale_NG, x_K, group, out_N, until=len(x_K) // 64 * 64)
