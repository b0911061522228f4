"""Quantised matrices: half a step at most, exact packing, odd shapes, zeros, extremes."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from minillm.compress import formats
from minillm.compress.packing import pack, unpack, words_for

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 80))
GROUPS = st.sampled_from([None, 1, 2, 7, 32, 64, 128])


@st.composite
def matrices(draw):
    """Matrices with outliers, zeros, constants, denormals and one-sided rows."""
    rows, columns = draw(SHAPES)
    dtype = draw(st.sampled_from([torch.float32, torch.float64, torch.float16, torch.bfloat16]))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    weight = torch.randn(rows, columns, generator=generator, dtype=torch.float64)
    kind = draw(st.sampled_from(["plain", "outlier", "zeros", "constant", "tiny", "positive"]))
    if kind == "outlier":
        weight[0, 0] = 1000.0
    elif kind == "zeros":
        weight[:, : columns // 2 + 1] = 0
    elif kind == "constant":
        weight[:] = 0.3
    elif kind == "tiny":
        weight *= 1e-42 if dtype == torch.float32 else 1e-6
    elif kind == "positive":
        weight = weight.abs() + 0.01
    return weight.to(dtype)


def half_step(weight, coded, group):
    """Half a step of each weight's own scale, and one rounding of the result."""
    scale = coded.scale_NG.double().repeat_interleave(coded.group, 1)[:, : weight.shape[1]]
    ulp = torch.finfo(weight.dtype).eps * weight.double().abs() + torch.finfo(weight.dtype).tiny
    return scale / 2 * (1 + 1e-6) + ulp


@settings(max_examples=300, deadline=None)
@given(matrices(), st.integers(2, 8), GROUPS, st.booleans())
def test_no_weight_is_off_by_more_than_half_a_step(weight, bits, group, is_symmetric):
    quantise = formats.symmetric if is_symmetric else formats.asymmetric
    coded = quantise(weight, bits, group)
    error = (coded.dequantize(torch.float64) - weight.double()).abs()
    assert (error <= half_step(weight, coded, group)).all()
    assert torch.equal(coded.dequantize()[weight == 0], weight[weight == 0])
    half = 1 << (bits - 1)
    assert coded.codes_NK.min() >= -half and coded.codes_NK.max() <= half - 1
    groups = 1 if group is None else math.ceil(weight.shape[1] / min(group, weight.shape[1]))
    assert coded.scale_NG.shape == (weight.shape[0], groups)


@settings(max_examples=100, deadline=None)
@given(matrices(), GROUPS)
def test_nf4_takes_the_nearest_level(weight, group):
    coded = formats.nf4(weight, group)
    levels = formats.nf4_levels(torch.float64)
    scale = coded.scale_NG.double().repeat_interleave(coded.group, 1)[:, : weight.shape[1]]
    distance = (weight.double()[..., None] - levels * scale[..., None]).abs()
    got = (weight.double() - coded.dequantize(torch.float64)).abs()
    assert (got <= distance.amin(-1) + scale * 1e-6).all()


def test_nf4_levels_are_those_of_the_paper():
    """Published in the appendix of QLoRA; ours are computed from the quantiles."""
    some = {0: -1.0, 1: -0.6961928, 6: -0.09105004, 7: 0.0, 8: 0.0795803, 14: 0.72295684, 15: 1.0}
    levels = formats.nf4_levels(torch.float64)
    assert all(abs(float(levels[i]) - value) < 1e-6 for i, value in some.items())


@pytest.mark.parametrize("block, expected", [(64, 0.0728), (128, 0.0768)])
def test_nf4_error_of_normal_weights_is_the_published_one(block, expected):
    weight = torch.randn(1024, 1024, generator=torch.Generator().manual_seed(0))
    error = (formats.nf4(weight, block).dequantize() - weight).abs().mean()
    assert abs(float(error) - expected) < 0.0002


def test_a_one_sided_group_keeps_its_maximum():
    weight = torch.linspace(0.5, 1.0, 8)[None]
    back = formats.symmetric(weight, 4, None).dequantize()
    step = 2 * 1.0 / 15
    assert abs(float(back[0, -1]) - 1.0) <= step / 2 + 1e-6


def test_scales_of_16_bits_are_rounded_up():
    weight = torch.rand(64, 64, generator=torch.Generator().manual_seed(1)) + 0.5
    wide = weight.amax(1, keepdim=True).double() * 2 / 15
    for dtype in (torch.float16, torch.bfloat16):
        coded = formats.symmetric(weight, 4, None, scale_dtype=dtype)
        assert coded.scale_NG.dtype == dtype
        assert (coded.scale_NG.double() >= wide * (1 - 1e-7)).all()
        assert (coded.scale_NG.double() <= wide * (1 + 2 * torch.finfo(dtype).eps)).all()


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_inf_and_nan_are_refused(bad):
    weight = torch.ones(2, 4)
    weight[1, 2] = bad
    for quantise in (formats.symmetric, formats.asymmetric):
        with pytest.raises(ValueError, match="inf or NaN"):
            quantise(weight, 4, 2)
    with pytest.raises(ValueError, match="inf or NaN"):
        formats.nf4(weight, 2)


def test_the_largest_floats_do_not_overflow():
    top = torch.finfo(torch.float32).max
    weight = torch.tensor([[top, -top, 0.0, top / 2]])
    for quantise in (formats.symmetric, formats.asymmetric):
        assert quantise(weight, 8, None).scale_NG.isfinite().all()
    with pytest.raises(ValueError, match="does not fit"):
        formats.symmetric(torch.full((1, 4), 1e9), 4, None, scale_dtype=torch.float16)


@settings(max_examples=200, deadline=None)
@given(SHAPES, st.sampled_from([4, 8]), st.integers(0, 10_000))
def test_packing_comes_back_and_takes_the_bits_it_says(shape, bits, seed):
    half, generator = 1 << (bits - 1), torch.Generator().manual_seed(seed)
    codes = torch.randint(-half, half, shape, generator=generator).to(torch.int8)
    words = pack(codes, bits)
    assert words.shape == (shape[0], words_for(shape[1], bits)) and words.dtype == torch.int32
    assert torch.equal(unpack(words, bits, shape[1]), codes)


def test_the_first_code_lies_in_the_lowest_bits():
    codes = torch.tensor([[-8, -7, -6, -5, -4, -3, -2, -1]], dtype=torch.int8)
    assert pack(codes, 4).tolist() == [[0x76543210]]
    assert pack(torch.tensor([[-128, -127, 0, 127]], dtype=torch.int8), 8)[0, 0] == torch.tensor(
        0xFF800100 - (1 << 32), dtype=torch.int64
    )


def test_packing_equals_compressed_tensors():
    from compressed_tensors.compressors.pack_quantized import helpers as packed

    generator = torch.Generator().manual_seed(3)
    codes = torch.randint(-8, 8, (5, 37), generator=generator).to(torch.int8)
    assert torch.equal(pack(codes, 4), packed.pack_to_int32(codes, 4))


def test_codes_out_of_range_and_other_bits_are_refused():
    with pytest.raises(ValueError, match="-8 .. 7"):
        pack(torch.tensor([[8]], dtype=torch.int8), 4)
    with pytest.raises(ValueError, match="to be packed"):
        pack(torch.zeros(1, 1, dtype=torch.int8), 3)
    with pytest.raises(ValueError, match=r"int32 \[N, 1\]"):
        unpack(torch.zeros(2, 2, dtype=torch.int32), 4, 8)
