"""Attention some queries at a time, against the masked softmax written out in float64."""

from __future__ import annotations

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from minillm import causal, ops

SIZE = 8


def draw(*shape: int, seed: int = 0, dtype=torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def inputs(queries: int, keys: int, groups: int, heads: int, size: int = SIZE, **kind):
    q_THK = draw(queries, groups * heads, size, seed=1, **kind)
    return q_THK, draw(keys, groups, size, seed=2, **kind), draw(keys, groups, size, seed=3, **kind)


def written_out(q_THK, k_LGK, v_LGK, scale, window):
    """Every score of every head, a mask made one pair at a time, a softmax, a sum: float64."""
    q_THK, k_LGK, v_LGK = q_THK.double(), k_LGK.double(), v_LGK.double()
    (queries, heads, _), (keys, groups, _) = q_THK.shape, k_LGK.shape
    allowed = [
        [
            key <= keys - queries + query
            and (window is None or keys - queries + query - key < window)
            for key in range(keys)
        ]
        for query in range(queries)
    ]
    k_LHK = k_LGK.repeat_interleave(heads // groups, dim=1)
    v_LHK = v_LGK.repeat_interleave(heads // groups, dim=1)
    scores_HTL = torch.einsum("thk,lhk->htl", q_THK, k_LHK) * scale
    scores_HTL = torch.where(torch.tensor(allowed), scores_HTL, -torch.inf)
    return torch.einsum("htl,lhk->thk", scores_HTL.softmax(-1), v_LHK)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(1, 200),
    st.integers(0, 150),
    st.one_of(st.none(), st.integers(1, 400)),
    st.integers(1, 3),
    st.integers(1, 3),
)
@example(64, 0, 1, 1, 1)
@example(65, 0, 1, 2, 2)
@example(128, 64, 64, 1, 3)
@example(129, 1, 63, 3, 1)
@example(200, 0, 65, 2, 3)
@example(63, 100, None, 2, 1)
@example(1, 90, 7, 1, 2)
def test_parts_equal_the_masked_softmax(queries, more, window, groups, heads):
    """queries of queries + more positions; windows from one key to beyond all of them."""
    q_THK, k_LGK, v_LGK = inputs(queries, queries + more, groups, heads)
    got = causal.chunked_attention(q_THK, k_LGK, v_LGK, 0.7, window)
    assert got.shape == q_THK.shape and got.dtype == q_THK.dtype
    assert (got - written_out(q_THK, k_LGK, v_LGK, 0.7, window)).abs().max() < 1e-12


def test_float32_is_as_near_as_float32_allows():
    q_THK, k_LGK, v_LGK = inputs(150, 230, 2, 2, size=64, dtype=torch.float32)
    got = causal.chunked_attention(q_THK, k_LGK, v_LGK, 0.125, 70)
    want = written_out(q_THK, k_LGK, v_LGK, 0.125, 70)
    assert got.dtype == torch.float32 and (got - want).abs().max() < 2e-6


def test_tensors_in_another_order_of_memory():
    """As the model has them: parts of a wider [q; k; v], and a row repeated without a copy."""
    q_THK, k_LGK, v_LGK = inputs(70, 70, 2, 2)
    both = torch.cat((q_THK, k_LGK, v_LGK), dim=1)
    q, k, v = both.split_with_sizes((4, 2, 2), dim=1)
    want = written_out(q_THK, k_LGK, v_LGK, 0.5, 9)
    for these in ((q, k, v), (q.transpose(0, 1).contiguous().transpose(0, 1), k, v)):
        assert (causal.chunked_attention(*these, 0.5, 9) - want).abs().max() < 1e-12
    same = q_THK[:1].expand(70, 4, SIZE)
    got = causal.chunked_attention(same, k_LGK, v_LGK, 0.5, 9)
    assert (got - written_out(same, k_LGK, v_LGK, 0.5, 9)).abs().max() < 1e-12


def test_keys_outside_of_a_window_are_not_multiplied():
    """Neither NaN before the window of the first query nor after the last one gets in."""
    q_THK, k_LGK, v_LGK = inputs(100, 300, 1, 2)
    want = causal.chunked_attention(q_THK, k_LGK, v_LGK, 0.7, 50)
    k_LGK[: 200 - 49], v_LGK[: 200 - 49] = torch.nan, torch.nan
    assert torch.equal(causal.chunked_attention(q_THK, k_LGK, v_LGK, 0.7, 50), want)


def test_when_parts_are_the_faster():
    assert causal.in_parts(5, 20, 64, window=19) and causal.in_parts(300, 300, 64, window=1)
    assert not causal.in_parts(5, 20, 64, window=20)  # a window that hides nothing
    assert not causal.in_parts(5, 20, 64, window=None)
    some = {n for n in range(1, 2000) if causal.in_parts(n, n, 128, None)}
    assert some == set(range(192, 768)) == {n for n in some if causal.in_parts(n, n, 256, n)}
    assert not causal.in_parts(300, 301, 128, None)  # keys of earlier steps
    assert not causal.in_parts(300, 300, 127, None)  # narrow heads


@pytest.fixture
def calls(count_calls):
    """How often ops.attention went in parts."""
    return count_calls(ops, "chunked_attention")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("queries, keys, window, size", [(70, 90, 20, 8), (200, 200, None, 128)])
def test_attention_goes_in_parts(queries, keys, window, size, dtype, calls):
    q_THK, k_LGK, v_LGK = inputs(queries, keys, 2, 2, size=size, dtype=dtype)
    with torch.no_grad():
        got = ops.attention(q_THK, k_LGK, v_LGK, size**-0.5, window)
    want = written_out(q_THK, k_LGK, v_LGK, size**-0.5, window)
    assert calls and (got - want).abs().max() < (1e-12 if dtype == torch.float64 else 1e-5)


def test_attention_in_inference_mode_goes_in_parts(calls):
    q_THK, k_LGK, v_LGK = inputs(70, 90, 2, 2)
    with torch.inference_mode():
        got = ops.attention(q_THK, k_LGK, v_LGK, 0.5, 20)
    assert calls and (got - written_out(q_THK, k_LGK, v_LGK, 0.5, 20)).abs().max() < 1e-12


def test_attention_with_gradients_goes_the_other_way_and_has_them(calls):
    q_THK, k_LGK, v_LGK = (x.requires_grad_() for x in inputs(70, 90, 2, 2))
    ops.attention(q_THK, k_LGK, v_LGK, 0.5, 20).square().sum().backward()
    got = [x.grad.clone() for x in (q_THK, k_LGK, v_LGK)]
    want = torch.autograd.grad(
        written_out(q_THK, k_LGK, v_LGK, 0.5, 20).square().sum(), (q_THK, k_LGK, v_LGK)
    )
    assert not calls
    assert all((a - b).abs().max() < 1e-10 for a, b in zip(got, want, strict=True))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_attention_in_16_bits_goes_the_other_way(dtype, calls):
    """Its scores would be rounded to 16 bits."""
    q_THK, k_LGK, v_LGK = inputs(70, 90, 2, 2, dtype=dtype)
    with torch.no_grad():
        got = ops.attention(q_THK, k_LGK, v_LGK, 0.5, 20)
    want = written_out(q_THK, k_LGK, v_LGK, 0.5, 20)
    assert not calls and got.dtype == dtype
    assert (got - want).abs().max() <= 2 * torch.finfo(dtype).eps * v_LGK.abs().max()


def test_one_query_and_a_window_that_hides_nothing_go_the_other_way(calls):
    with torch.no_grad():
        for queries, keys, window in ((1, 90, 20), (70, 90, 90), (70, 90, None)):
            q_THK, k_LGK, v_LGK = inputs(queries, keys, 2, 2)
            got = ops.attention(q_THK, k_LGK, v_LGK, 0.5, window)
            want = written_out(q_THK, k_LGK, v_LGK, 0.5, window)
            assert not calls and (got - want).abs().max() < 1e-12
