"""The plain operations against other ways of writing them down."""

from __future__ import annotations

import numpy as np
import pytest
import reference
import torch
import zoo

from minillm import few_rows, ops
from minillm.config import RopeConfig

SCALINGS = {
    "default": RopeConfig(theta=5e5),
    "linear": RopeConfig(theta=5e5, kind="linear", factor=8.0),
    "llama3": RopeConfig(theta=5e5, kind="llama3", factor=8.0, original_len=8192),
    "yarn": RopeConfig(theta=1e6, kind="yarn", factor=4.0, original_len=32768),
    "yarn, plain borders": RopeConfig(
        theta=150_000.0, kind="yarn", factor=32.0, original_len=4096, truncate=False
    ),
    "yarn, ramp of no width": RopeConfig(
        theta=1e4, kind="yarn", factor=2.0, original_len=6, beta_fast=1.0
    ),
}


@pytest.mark.parametrize("size", [64, 128, 10])
@pytest.mark.parametrize("name", SCALINGS)
def test_rope_frequencies_of_real_models(name, size):
    """Settings as published models have them, against the papers' rules and transformers'."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    from minillm.hf_rope import rope_to_hf

    rope = SCALINGS[name]
    got = ops.rope_frequencies(rope, size, torch.float64)
    want = np.array(reference.frequencies(rope, size))
    assert np.abs(got.numpy() / want - 1).max() < 1e-12
    if rope.kind != "default":
        config = LlamaConfig(head_dim=size, rope_parameters=rope_to_hf(rope))
        theirs = ROPE_INIT_FUNCTIONS[rope.kind](config)[0]
        assert np.abs(theirs.numpy() / want - 1).max() < 1e-4  # theirs is float32


def test_rope_tables_at_large_positions_are_as_good_as_float32_allows():
    freq = ops.rope_frequencies(RopeConfig(), 8, torch.float32)
    pos_T = torch.tensor([0, 1, 131_071])
    cos_T1K, sin_T1K = ops.rope_tables(pos_T, freq, 1.5, torch.float32)
    assert cos_T1K.shape == (3, 1, 8) and cos_T1K[0].eq(1.5).all() and sin_T1K[0].eq(0).all()
    angle = np.float32(131_071) * freq.numpy()  # the angle itself is a float32 product
    want = 1.5 * np.cos(np.concatenate([angle, angle]).astype(np.float64))
    assert np.abs(cos_T1K[2, 0].numpy() - want).max() < 1e-6


def test_apply_rope_turns_pairs_half_a_head_apart():
    x_THK = torch.arange(1.0, 9.0).view(1, 2, 4)
    angle = torch.tensor([0.0, torch.pi / 2, 0.0, torch.pi / 2])  # only the second pair turns
    signed = angle.sin() * torch.tensor([-1.0, -1.0, 1.0, 1.0])  # as rope_tables gives it
    got = ops.apply_rope(x_THK, angle.cos().view(1, 1, 4), signed.view(1, 1, 4))
    want = torch.tensor([[[1.0, -4.0, 3.0, 2.0], [5.0, -8.0, 7.0, 6.0]]])
    assert torch.allclose(got, want, atol=1e-6)


def test_causal_mask_by_hand():
    T, F = True, False
    assert ops.causal_mask(3, 3, None).tolist() == [[T, F, F], [T, T, F], [T, T, T]]
    assert ops.causal_mask(2, 4, None).tolist() == [[T, T, T, F], [T, T, T, T]]  # bottom right
    assert ops.causal_mask(2, 4, 2).tolist() == [[F, T, T, F], [F, F, T, T]]
    assert ops.causal_mask(2, 4, 1).tolist() == [[F, F, T, F], [F, F, F, T]]
    assert ops.causal_mask(1, 3, 99).tolist() == [[T, T, T]]


def by_hand(q_THK, k_LGK, v_LGK, scale, window):
    """Attention of one query and one head at a time."""
    (queries, heads, _), (keys, groups, _) = q_THK.shape, k_LGK.shape
    out = torch.zeros_like(q_THK)
    for t in range(queries):
        last = keys - queries + t
        first = 0 if window is None else max(0, last - window + 1)
        for h in range(heads):
            g = h // (heads // groups)
            scores = torch.stack(
                [scale * (q_THK[t, h] @ k_LGK[s, g]) for s in range(first, last + 1)]
            )
            for share, s in zip(scores.softmax(0), range(first, last + 1)):
                out[t, h] += share * v_LGK[s, g]
    return out


@pytest.mark.parametrize("window", [None, 1, 3, 7, 50])
@pytest.mark.parametrize("heads", [(7, 1), (5, 1), (12, 2), (24, 4), (3, 3)])
@pytest.mark.parametrize("queries, keys", [(1, 1), (1, 7), (4, 7), (7, 7), (6, 7)])
def test_attention_equals_the_loop(queries, keys, heads, window):
    generator = torch.Generator().manual_seed(queries + keys)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
    q_THK = draw(queries, heads[0], 6)
    k_LGK, v_LGK = draw(keys, heads[1], 6), draw(keys, heads[1], 6)
    got = ops.attention(q_THK, k_LGK, v_LGK, 0.7, window)
    assert (got - by_hand(q_THK, k_LGK, v_LGK, 0.7, window)).abs().max() < 1e-12


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("queries", [1, 5])
def test_attention_in_16_bit_keeps_its_dtype_and_its_error_small(dtype, queries):
    """At most twice the error of the same sums with every step rounded to 16 bit."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator).to(dtype)
    q_THK, k_LGK, v_LGK = draw(queries, 6, 16), draw(40, 2, 16), draw(40, 2, 16)
    exact = by_hand(q_THK.double(), k_LGK.double(), v_LGK.double(), 0.25, None)
    rough = by_hand(q_THK, k_LGK, v_LGK, 0.25, None).double()
    got = ops.attention(q_THK, k_LGK, v_LGK, 0.25)
    assert got.dtype == dtype
    assert (got.double() - exact).norm() <= 2 * (rough - exact).norm()


@pytest.mark.parametrize("size", [1.0, 10.0, 2e4])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("queries", [1, 5])
def test_scores_are_not_rounded_to_16_bit(dtype, queries, size):
    """Then only shares and result are: half a step each of the largest value."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator)
    q_THK = (size * draw(queries, 6, 16)).clamp(-6e4, 6e4).to(dtype)
    k_LGK, v_LGK = draw(40, 2, 16).to(dtype), draw(40, 2, 16).to(dtype)
    exact = by_hand(q_THK.double(), k_LGK.double(), v_LGK.double(), 1.0, 30)
    got = ops.attention(q_THK, k_LGK, v_LGK, 1.0, 30)
    assert (got.double() - exact).abs().max() <= torch.finfo(dtype).eps * v_LGK.abs().max()


def test_large_scores_do_not_overflow():
    q_THK, k_LGK = torch.full((1, 2, 4), 300.0), torch.full((3, 1, 4), 300.0)
    v_LGK = torch.arange(12.0).view(3, 1, 4)
    for q in (q_THK, q_THK.expand(3, 2, 4)):
        got = ops.attention(q, k_LGK, v_LGK, 1.0)
        assert torch.allclose(got[-1], torch.tensor([4.0, 5.0, 6.0, 7.0]).expand(2, 4))


@pytest.mark.parametrize("plus_one", [False, True])
def test_rms_norm_by_formula(plus_one):
    x_TD, weight_D = torch.randn(3, 5, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
    got = ops.rms_norm(x_TD, weight_D, 0.1, plus_one)
    gain = weight_D + 1 if plus_one else weight_D
    for row, x in enumerate(x_TD):
        length = (sum(float(v) ** 2 for v in x) / 5 + 0.1) ** 0.5
        assert torch.allclose(got[row], x / length * gain, rtol=1e-12, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rms_norm_squares_in_wide_precision(dtype):
    x_TD = torch.full((1, 8), 300.0, dtype=dtype)  # 300^2 is beyond float16
    got = ops.rms_norm(x_TD, torch.ones(8, dtype=dtype), 1e-6)
    assert got.dtype == dtype and torch.equal(got, torch.ones(1, 8, dtype=dtype))
    plus = ops.rms_norm(x_TD, torch.full((8,), 2.0**-10, dtype=dtype), 1e-6, plus_one=True)
    assert torch.equal(plus, torch.full((1, 8), 1 + 2.0**-10).to(dtype))


def test_gemma_adds_one_to_its_norm_weights_in_wide_precision():
    """In bf16 1 + 2^-9 is 1: the sum must be formed before rounding, as transformers does."""
    theirs, ours = zoo.theirs_and_ours(zoo.CASES["gemma3"])
    weight = torch.full_like(ours.norm.weight, 2.0**-9)
    ours.norm.weight.copy_(weight)
    theirs.model.norm.weight.copy_(weight)
    x_TD = torch.randn(64, 36, generator=torch.Generator().manual_seed(0)).bfloat16()
    got, want = ours.bfloat16().norm(x_TD), theirs.bfloat16().model.norm(x_TD)
    assert torch.equal(got, want)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 6, 8, 17, 64])
@pytest.mark.parametrize("out, size", [(48, 40), (1030, 256), (150, 2048), (900, 640)])
@pytest.mark.parametrize("bias", [False, True])
def test_linear_of_few_rows_goes_another_way_to_the_same_result(rows, out, size, bias):
    """Within the rounding of a sum of `size` terms in any order, sqrt(size) * u * sum |x w|.

    The probabilistic bound (Higham & Mary 2019): the ways differ in their order of summation.
    """
    generator = torch.Generator().manual_seed(rows)
    draw = lambda *shape: torch.randn(*shape, generator=generator)
    x, weight, b = draw(rows, size), draw(out, size), draw(out) if bias else None
    wide = x.double() @ weight.double().t() + (b.double() if bias else 0)
    with torch.no_grad():
        got = ops.linear(x, weight, b)
        turned = ops.linear(x, weight.t().contiguous().t(), b)  # columns one after another
        apart = ops.linear(x.t().contiguous().t(), weight, b)
    assert got.is_contiguous() and got.shape == (rows, out) and got.dtype == x.dtype
    terms = x.abs().double() @ weight.abs().double().t() + (b.abs().double() if bias else 0)
    for found in (got, turned, apart):
        assert bool(((found - wide).abs() <= size**0.5 * 2**-24 * terms).all())


def test_linear_has_gradients():
    x, weight = torch.randn(3, 600, requires_grad=True), torch.randn(900, 600)
    ops.linear(x, weight).sum().backward()
    assert torch.allclose(x.grad, weight.sum(0).expand(3, -1), atol=1e-4)


def ways_of(monkeypatch) -> list[str]:
    """Notes which of the three products each call of ops.linear takes."""
    taken, default = [], few_rows.F.linear
    first, onednn = few_rows.weight_first, few_rows._ONEDNN
    note = lambda name, way: lambda *args: taken.append(name) or way(*args)
    monkeypatch.setattr(few_rows.F, "linear", note("default", default))
    monkeypatch.setattr(few_rows, "weight_first", note("weight first", first))
    if onednn is not None:
        monkeypatch.setattr(few_rows, "_ONEDNN", note("onednn", onednn))
    return taken


def test_which_product_for_how_many_rows(monkeypatch):
    if few_rows._ONEDNN is None:
        pytest.skip("this torch has no MKL or no oneDNN: the default product runs")
    taken = ways_of(monkeypatch)
    small, large = torch.randn(300, 256), torch.randn(1000, 640)
    few, default, one = ["weight first"], ["default"], ["onednn"]
    wide = one + few * 2 + one * 5 + default  # of no row nothing is asked
    for threads, narrow in ((1, few * 5 + default * 4), (2, few * 7 + default * 2)):
        monkeypatch.setattr(torch, "get_num_threads", lambda count=threads: count)
        taken.clear()
        with torch.no_grad():
            for weight in (small, large):
                for rows in (1, 2, 4, 5, 8, 9, 32, 33, 0):
                    ops.linear(torch.randn(rows, weight.shape[1]), weight)
        assert taken == narrow + wide


def test_linear_without_the_private_operation_and_without_mkl(monkeypatch):
    for size in (256, 2000):
        weight = torch.randn(300, size)
        for rows in (1, 3, 20):
            x = torch.randn(rows, size)
            with torch.no_grad():
                before = ops.linear(x, weight)
                taken = ways_of(monkeypatch)
                for name, absent in (("_ONEDNN", None), ("_MKL", False)):
                    monkeypatch.setattr(few_rows, name, absent)
                    taken.clear()
                    assert torch.allclose(ops.linear(x, weight), before, atol=1e-3)
                assert taken == ["default"], "borders measured with MKL say nothing without it"
                monkeypatch.undo()
