"""Sampling: every parameter alone and together, against other ways of computing the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from minillm.sampling import Sampler, SamplingParams, filter_logits, largest, top_logprobs

INF, NAN = math.inf, math.nan


def allowed(logits, params) -> set[int] | None:
    """Tokens that survive, in plain Python; None where rounding alone decides."""
    kept = {i: x for i, x in enumerate(logits) if x > -INF}
    if params.top_k:
        ranked = sorted(kept.values(), reverse=True)
        border = ranked[min(params.top_k, len(ranked)) - 1]
        kept = {i: x for i, x in kept.items() if x >= border}
    scaled = {i: x / params.temperature for i, x in kept.items()}
    best = max(scaled.values())
    weight = {i: math.exp(x - best) for i, x in scaled.items()}
    mass = math.fsum(weight.values())
    kept, before = set(), 0.0
    for i in sorted(weight, key=lambda i: (-weight[i], i)):
        if abs(before - params.top_p) < 1e-9 < params.top_p < 1:
            return None
        if kept and params.top_p < 1 and before >= params.top_p:
            break
        kept.add(i)
        before += weight[i] / mass
    if any(abs(weight[i] - params.min_p) < 1e-9 for i in kept if weight[i] < 1):
        return None
    return {i for i in kept if weight[i] >= params.min_p}


def survivors(logits, params) -> set[int]:
    filtered_V = filter_logits(torch.tensor(logits, dtype=torch.float64), params)
    assert not filtered_V.isnan().any()
    return set(filtered_V.isfinite().nonzero().flatten().tolist())


# On a grid: two logits closer than rounding are equal to one way of computing, not to the other.
grid = st.floats(-30, 30).map(lambda x: round(x, 6))
logits_lists = st.lists(
    st.one_of(grid, st.sampled_from([-INF, 0.0, 1.0, 1.0])), min_size=1, max_size=12
).filter(lambda xs: max(xs) > -INF)
temperatures = st.sampled_from([1.0, 0.3, 1e-5, 2.5, 100])
shares = st.floats(1e-6, 1)
ks = st.sampled_from([0, 1, 2, 5, 9_999_999])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(logits_lists, temperatures, ks, shares, st.floats(0, 1))
def test_filters_together_equal_brute_force(logits, temperature, top_k, top_p, min_p):
    params = SamplingParams(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    want = allowed(logits, params)
    assume(want is not None)
    assert survivors(logits, params) == want


@pytest.mark.parametrize("name", ["top_k", "top_p", "min_p"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(logits=logits_lists, k=ks, share=shares)
def test_each_filter_alone_equals_brute_force(name, logits, k, share):
    params = SamplingParams(temperature=1.0, **{name: k if name == "top_k" else share})
    want = allowed(logits, params)
    assume(want is not None)
    assert survivors(logits, params) == want


def test_top_k_counts_logits_that_the_shift_would_make_equal():
    params = SamplingParams(temperature=1.0, top_k=5)
    assert survivors([0.0, 1.0, 1.0, 1.0, 1.0, 4.422082849629596e-83], params) == {1, 2, 3, 4, 5}


def test_filters_by_hand():
    logits = [math.log(p) for p in (0.5, 0.25, 0.15, 0.1)]
    kept = lambda **more: survivors(logits, SamplingParams(temperature=1.0, **more))
    assert kept() == {0, 1, 2, 3}
    assert kept(top_k=2) == {0, 1} and kept(top_k=1) == {0} and kept(top_k=4) == {0, 1, 2, 3}
    assert kept(top_p=0.49) == {0} and kept(top_p=0.51) == {0, 1}
    assert kept(top_p=0.74) == {0, 1} and kept(top_p=0.76) == {0, 1, 2}
    assert kept(top_p=1e-9) == {0} and kept(min_p=1.0) == {0}
    assert kept(min_p=0.19) == {0, 1, 2, 3} and kept(min_p=0.21) == {0, 1, 2}
    # top_p sees what top_k left: 0.5 and 0.25 are 2/3 and 1/3 of it
    assert kept(top_k=2, top_p=0.6) == {0} and kept(top_k=2, top_p=0.7) == {0, 1}


@pytest.mark.parametrize("seed", range(8))
def test_filters_equal_transformers(seed):
    from transformers.generation import logits_process as theirs

    generator = torch.Generator().manual_seed(seed)
    logits_V = 4 * torch.randn(50, generator=generator, dtype=torch.float64)
    prompt = [3, 49, 3, 7]
    params = SamplingParams(
        temperature=[0.5, 1.7][seed % 2], top_k=[0, 20, 60][seed % 3], top_p=[1.0, 0.9][seed // 4],
        min_p=[0.0, 0.02][seed // 2 % 2], repetition_penalty=[1.0, 1.3, 0.8][seed % 3],
    )  # fmt: skip
    chain = [theirs.RepetitionPenaltyLogitsProcessor(params.repetition_penalty)]
    chain.append(theirs.TemperatureLogitsWarper(params.temperature))
    if params.top_k:
        chain.append(theirs.TopKLogitsWarper(params.top_k))
    chain.append(theirs.TopPLogitsWarper(params.top_p))
    if params.min_p:
        chain.append(theirs.MinPLogitsWarper(params.min_p))
    scores = logits_V[None].clone()
    for process in chain:
        scores = process(torch.tensor([prompt]), scores)
    penalised_V = Sampler(params, prompt)._penalise(logits_V)
    got_V = filter_logits(penalised_V, params).softmax(-1)
    assert torch.allclose(got_V, scores[0].softmax(-1), rtol=1e-9, atol=0)


def test_greedy_below_the_smallest_temperature():
    logits_V = torch.tensor([0.0, 1e-9, -1.0], dtype=torch.float64)
    for temperature in (0, 0.0, 9.9e-6, 1e-300):
        params = SamplingParams(temperature=temperature, seed=1)
        assert params.greedy
        assert [Sampler(params, []).pick(logits_V) for _ in range(20)] == [1] * 20
    warm = Sampler(SamplingParams(temperature=1e-5, seed=1), [])
    assert not warm.params.greedy and {warm.pick(logits_V) for _ in range(60)} == {0, 1}


def chi_square(counts, probs) -> float:
    total = sum(counts)
    return sum((c - total * p) ** 2 / (total * p) for c, p in zip(counts, probs) if p > 0)


def limit(freedom: int, z: float = 3.72) -> float:
    """Chi-square that chance exceeds once in 10,000 (Wilson & Hilferty 1931)."""
    return freedom * (1 - 2 / (9 * freedom) + z * (2 / (9 * freedom)) ** 0.5) ** 3


@pytest.mark.parametrize("more, kept", [
    ({}, range(8)), ({"temperature": 0.5}, range(8)), ({"top_k": 3, "top_p": 0.9}, range(3)),
])  # fmt: skip
def test_20000_draws_follow_the_distribution(more, kept):
    logits_V = torch.tensor([2.0, 1.5, 1.0, 0.5, 0.0, -0.5, -1.0, -1.5])
    params = SamplingParams(**({"temperature": 1.0, "seed": 11} | more))
    sampler = Sampler(params, [])
    drawn = torch.tensor([sampler.pick(logits_V) for _ in range(20_000)])
    weights = [math.exp(x / params.temperature) for x in logits_V.tolist()]
    mass = sum(weights[i] for i in kept)
    probs = [w / mass if i in kept else 0.0 for i, w in enumerate(weights)]
    counts = drawn.bincount(minlength=8).tolist()
    assert sum(c for c, p in zip(counts, probs) if not p) == 0
    assert chi_square(counts, probs) < limit(len(kept) - 1)


@pytest.mark.parametrize("u, want", [(0.0, 1), (1 - 2**-53, 3)])
def test_the_ends_of_the_uniform_number_never_pick_a_dropped_token(monkeypatch, u, want):
    logits_V = torch.tensor([-INF, 0.0, -INF, 0.0, -INF, -INF])
    monkeypatch.setattr(torch, "rand", lambda *a, **k: torch.tensor([u], dtype=torch.float64))
    assert Sampler(SamplingParams(temperature=1.0), []).pick(logits_V) == want


FILTERS = [
    {}, {"top_k": 9_999_999}, {"top_k": 1}, {"top_p": 0.5}, {"min_p": 0.1},
    {"top_k": 5, "top_p": 0.3, "min_p": 0.5}, {"repetition_penalty": 3.0, "presence_penalty": 2.0},
]  # fmt: skip


@pytest.mark.parametrize("more", FILTERS)
@pytest.mark.parametrize("temperature", [0.0, 1e-5, 1.0, 100.0])
def test_tokens_of_minus_infinity_are_never_picked(temperature, more):
    logits_V = torch.full((9,), -INF)
    logits_V[4], logits_V[6] = -5.0, 3.0
    sampler = Sampler(SamplingParams(temperature=temperature, seed=0, **more), [4, 5])
    assert {sampler.pick(logits_V) for _ in range(30)} <= {4, 6}


@pytest.mark.parametrize("more", FILTERS)
def test_huge_logits_at_a_tiny_temperature(more):
    logits_V = torch.tensor([3e38, -3e38, 2.9e38])
    sampler = Sampler(SamplingParams(temperature=1e-5, seed=0, **more), [])
    assert sampler.pick(logits_V) == 0


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("bad", [[NAN, 1.0], [1.0, NAN, -INF], [-INF, -INF], [INF, 1.0]])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_broken_logits_are_refused(bad, temperature, dtype):
    sampler = Sampler(SamplingParams(temperature=temperature), [])
    with pytest.raises(ArithmeticError, match="fp32"):
        sampler.pick(torch.tensor(bad, dtype=dtype))
    assert not sampler.written


def draws(sampler, count=40):
    return [sampler.pick(torch.zeros(100)) for _ in range(count)]


def test_a_seed_gives_the_same_draws_whoever_else_draws():
    seeded = lambda: Sampler(SamplingParams(temperature=1.0, seed=5), [])
    alone = draws(seeded())
    for run in range(4):
        torch.manual_seed(run)
        mine, other, result = seeded(), Sampler(SamplingParams(temperature=1.0), []), []
        for _ in range(40):
            torch.rand(3)
            other.pick(torch.zeros(100))
            result.append(mine.pick(torch.zeros(100)))
        assert result == alone
    assert draws(Sampler(SamplingParams(temperature=1.0, seed=6), [])) != alone


def test_without_a_seed_every_request_differs_and_torch_is_left_alone():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = draws(Sampler(SamplingParams(temperature=1.0), []))
    torch.manual_seed(0)
    assert first != draws(Sampler(SamplingParams(temperature=1.0), []))
    assert torch.equal(torch.get_rng_state(), before)


def test_presence_counts_once_and_output_only():
    sampler = Sampler(SamplingParams(presence_penalty=0.3), [0, 0, 1])
    # 0 starts at 1.0, 1 at 0.9: 0, then 1 (0.9 > 0.7), then 0 for ever (0.7 > 0.6)
    assert [sampler.pick(torch.tensor([1.0, 0.9, 0.0])) for _ in range(6)] == [0, 1, 0, 0, 0, 0]


def test_frequency_counts_every_time_and_output_only():
    sampler = Sampler(SamplingParams(frequency_penalty=0.3), [0, 0, 1])
    # 1.0 | 0.7 0.9 | 0.7 0.6 | 0.4 0.6 | 0.4 0.3 | 0.1 0.3 | 0.1 0.0 0.05
    got = [sampler.pick(torch.tensor([1.0, 0.9, 0.05])) for _ in range(7)]
    assert got == [0, 1, 0, 1, 0, 1, 0]


def test_penalties_together_by_hand():
    params = SamplingParams(repetition_penalty=2.0, presence_penalty=0.5, frequency_penalty=0.25)
    sampler = Sampler(params, [1, 3, 999])  # 999: an id beyond these logits is no error
    logits_V = torch.tensor([4.0, 2.0, 8.0, -1.0, 0.5], dtype=torch.float64)
    assert sampler.pick(logits_V) == 2 and sampler.pick(logits_V) == 0  # 8 | 8/2-0.75 < 4
    want = [4 / 2 - 0.75, 2 / 2, 8 / 2 - 0.75, -1 * 2, 0.5]
    assert sampler._penalise(logits_V).tolist() == want
    assert logits_V.tolist() == [4.0, 2.0, 8.0, -1.0, 0.5]  # the model's tensor is untouched
    negative = Sampler(SamplingParams(presence_penalty=-1.0), [])
    assert [negative.pick(torch.tensor([1.0, 0.9])) for _ in range(3)] == [0, 0, 0]
    assert negative._penalise(torch.tensor([1.0, 0.5])).tolist() == [2.0, 0.5]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_logits_are_sampled_in_float32(dtype):
    logits_V = torch.linspace(-3, 3, 40).to(dtype)
    params = SamplingParams(
        temperature=0.8, top_p=0.95, top_k=30, min_p=0.01, frequency_penalty=0.1, seed=3
    )
    low, wide = Sampler(params, [1]), Sampler(params, [1])
    for _ in range(50):
        assert low.pick(logits_V) == wide.pick(logits_V.float())
    got = top_logprobs(logits_V, 5, 2)
    want = logits_V.double().log_softmax(-1)
    assert got == {5: float(want[5]), 39: float(want[39]), 38: float(want[38])}


def test_top_logprobs_holds_the_token_and_the_likeliest():
    logits_V = torch.tensor([0.0, 3.0, 1.0, 2.0])
    want = [math.log(math.exp(x) / sum(map(math.exp, logits_V.tolist()))) for x in (0, 3, 1, 2)]
    for token, count, keys in ((0, 0, [0]), (0, 2, [0, 1, 3]), (1, 2, [1, 3]), (2, 100, 4)):
        got = top_logprobs(logits_V, token, count)
        assert list(got) == keys if isinstance(keys, list) else len(got) == keys
        assert all(abs(got[t] - want[t]) < 1e-12 for t in got)


NO_NUMBERS = ("1", None, True, NAN, INF, -INF, [1], 10**400, -(10**400))
BAD = {
    "max_tokens": (0, -1, 1.0, (1 << 30) + 1),
    "temperature": (-1e-9, 100.1),
    "top_k": (-1, 1.0, 1 << 63),
    "top_p": (0, 0.0, -0.1, 1.0001),
    "min_p": (-0.1, 1.1),
    "repetition_penalty": (0, 0.0, -1.0, 101),
    "presence_penalty": (-100.5, 101),
    "frequency_penalty": (-100.5, 101),
    "seed": (-1, 0.5, 1 << 63),
    "n": (0, -1, 1.0, 1025),
    "logprobs": (-1, 101, 1.0),
    "prompt_logprobs": (-1, 101, 1.0),
}
MAY_BE_NONE = ("seed", "logprobs", "prompt_logprobs")


@pytest.mark.parametrize("name", BAD)
def test_numbers_out_of_range_are_refused_by_name(name):
    for value in (*BAD[name], *NO_NUMBERS):
        if value is None and name in MAY_BE_NONE:
            assert getattr(SamplingParams(**{name: None}), name) is None
            continue
        with pytest.raises(ValueError, match=f"^{name} must be "):
            SamplingParams(**{name: value})


@pytest.mark.parametrize("name, values", [
    ("stop", ("", [""], ["a", ""], [1], None, 5, b"ab", ["a", None])),
    ("stop_token_ids", ([-1], [1.0], [True], "ab", None, 5, [None])),
    ("ignore_eos", (0, 1, None, "yes")),
])  # fmt: skip
def test_other_fields_are_refused_by_name(name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"^{name} must "):
            SamplingParams(**{name: value})


def test_every_field_is_in_a_table_of_refusals():
    import dataclasses

    fields = {f.name for f in dataclasses.fields(SamplingParams)}
    assert fields == set(BAD) | {"stop", "stop_token_ids", "ignore_eos"}


def test_numbers_of_numpy_count_as_numbers():
    found = SamplingParams(
        max_tokens=np.int64(5), temperature=np.float32(0.5), seed=np.uint8(3), top_p=np.float64(1),
        stop_token_ids=np.array([1, 2]),
    )  # fmt: skip
    want = SamplingParams(max_tokens=5, temperature=0.5, seed=3, stop_token_ids=(1, 2))
    assert found == want and type(found.max_tokens) is int and type(found.stop_token_ids[0]) is int
    for wrong in (np.float64(5), np.bool_(True), np.int64(0), np.array(5), np.array([5])):
        with pytest.raises(ValueError, match="^max_tokens must be "):
            SamplingParams(max_tokens=wrong)


def test_the_borders_themselves_are_allowed():
    SamplingParams(
        max_tokens=1, temperature=100, top_k=1 << 62, top_p=1, min_p=1, repetition_penalty=100,
        presence_penalty=-100, frequency_penalty=100, seed=(1 << 63) - 1, logprobs=0,
        prompt_logprobs=100, n=1024, stop=["a"], stop_token_ids=(0,), ignore_eos=True,
    )  # fmt: skip
    assert SamplingParams(stop="abc").stop == ("abc",) and SamplingParams(stop=["a"]).stop == ("a",)


VOCABULARIES = [32768, 128256, 151936, 262144]
SMALL = [1, 2, 127, 1000, 32767, 32769]  # and one that 128 does not divide


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", VOCABULARIES + SMALL)
def test_the_largest_logit_and_its_first_place(size, dtype):
    """16 bits have many ties; the first of them counts, as argmax says."""
    for seed in range(3):
        logits_V = torch.randn(size, generator=torch.Generator().manual_seed(seed)).to(dtype)
        assert largest(logits_V) == (logits_V.max().item(), first_of(logits_V))


def first_of(logits_V) -> int:
    """The first place of the largest number, by looking at all that are as large."""
    return int((logits_V == logits_V.max()).nonzero()[0])


@pytest.mark.parametrize("size", VOCABULARIES)
def test_ties_within_and_across_rows_go_to_the_first_place(size):
    rows = size // 128
    for places in (
        [(3, 5), (3, 7)],
        [(3, 100), (4, 2)],  # the later row has the earlier column
        [(0, 127), (rows - 1, 0)],
        [(0, 0), (rows - 1, 127)],
        [(rows - 1, 127)],
        [(r, 127 - r % 128) for r in range(rows)],
    ):
        logits_V = torch.full((size,), -3.0)
        for row, column in places:
            logits_V[row * 128 + column] = 2.5
        first = min(row * 128 + column for row, column in places)
        assert largest(logits_V) == (2.5, first)
    assert largest(torch.zeros(size)) == (0.0, 0)
    assert largest(torch.full((size,), -INF)) == (-INF, 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", [40, *VOCABULARIES])
def test_the_largest_is_nan_if_there_is_any_and_inf_is_found(size, dtype):
    logits_V = torch.zeros(size, dtype=dtype)
    logits_V[33] = INF
    assert largest(logits_V) == (INF, 33)
    for place in (0, 17, size - 1):
        spoilt_V = logits_V.clone()
        spoilt_V[place] = NAN
        value, found = largest(spoilt_V)
        assert math.isnan(value) and found == place
        with pytest.raises(ArithmeticError, match="NaN"):
            Sampler(SamplingParams(), []).pick(spoilt_V)


@pytest.mark.parametrize("size", VOCABULARIES)
def test_the_largest_of_logits_in_another_order_of_memory(size):
    both = torch.randn(size, 2, generator=torch.Generator().manual_seed(4))
    for logits_V in (both[:, 1], both.T[1], both.flatten()[1::2]):
        assert largest(logits_V) == (logits_V.max().item(), first_of(logits_V))
    both.requires_grad_()
    assert largest(both[:, 0])[1] == first_of(both[:, 0].detach())
