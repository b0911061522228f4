"""Sparse forms: exact round trips, real bytes, and clear words where a form does not fit."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import minillm
from minillm.compress import sparse
from minillm.compress.masks import lowest_of_groups
from minillm.compress.prune import prune
from minillm.files import SaveError

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.integers(1, 13), st.sampled_from(DTYPES), st.integers(0, 999))
def test_two_of_four_come_back_exactly(rows, groups, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(rows, 4 * groups, generator=generator, dtype=torch.float64).to(dtype)
    mask = lowest_of_groups(torch.rand(weight.shape, generator=generator), (2, 4))
    mask &= torch.rand(weight.shape, generator=generator) > 0.2  # groups with fewer than two
    weight = weight * mask
    packed = sparse.pack_24(weight)
    assert torch.equal(sparse.unpack_24(packed), weight)
    assert packed.values_NK2.shape == (rows, 2 * groups) and packed.values_NK2.dtype == dtype
    assert packed.places.shape == (rows, -(-groups // 2)) and packed.places.dtype == torch.uint8


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 9), st.integers(1, 37), st.sampled_from(DTYPES), st.floats(0, 1))
def test_any_pattern_comes_back_exactly_from_a_bit_mask(rows, columns, dtype, share):
    generator = torch.Generator().manual_seed(rows * 100 + columns)
    weight = torch.randn(rows, columns, generator=generator, dtype=torch.float64).to(dtype)
    weight = weight * (torch.rand(weight.shape, generator=generator) > share)
    packed = sparse.pack_bits(weight)
    assert torch.equal(sparse.unpack_bits(packed), weight)
    assert packed.values.numel() == int((weight != 0).sum())


def test_the_places_by_hand():
    weight = torch.tensor([[0.0, 5.0, 0.0, 6.0, 7.0, 8.0, 0.0, 0.0]])
    packed = sparse.pack_24(weight)
    assert packed.values_NK2.tolist() == [[5.0, 6.0, 7.0, 8.0]]
    # group 0: places 1 and 3 -> 0b1101; group 1: places 0 and 1 -> 0b0100, in the high half
    assert packed.places.tolist() == [[0b0100_1101]]


def test_three_of_four_are_refused_by_place():
    weight = torch.zeros(3, 12)
    weight[1, 5:8] = 1.0
    with pytest.raises(ValueError, match="row 1 has more than two weights in columns 4 to 7"):
        sparse.pack_24(weight)


def test_bytes_are_what_is_held():
    weight = torch.randn(64, 128).half()
    weight = weight * lowest_of_groups(weight.abs(), (2, 4))
    packed, bits = sparse.pack_24(weight), sparse.pack_bits(weight)
    held = packed.values_NK2.nbytes + packed.places.nbytes
    assert held == sparse.sparse_bytes(64, 128, 0.5, "2:4", 2) == 0.5625 * weight.nbytes
    held = bits.values.nbytes + bits.bits.nbytes
    assert held == sparse.sparse_bytes(64, 128, 0.5, "bitmask", 2) == 0.5625 * weight.nbytes
    csr = weight.float().to_sparse_csr()
    index = csr.crow_indices().numel() * 4 + csr.col_indices().numel() * 4
    assert csr.values().numel() * 2 + index == sparse.sparse_bytes(64, 128, 0.5, "csr", 2)
    assert sparse.sparse_bytes(4096, 4096, 0.5, "csr", 2) / (2 * 4096**2) == pytest.approx(
        1.5, 1e-3
    )
    assert sparse.sparse_bytes(64, 128, 0.9, "dense", 2) == weight.nbytes
    with pytest.raises(ValueError, match="form must be one of dense, csr"):
        sparse.sparse_bytes(1, 1, 0.5, "coo", 2)


@pytest.mark.parametrize("form", ["2:4", "bitmask"])
def test_a_model_in_a_sparse_form_computes_the_same_in_fewer_bytes(form):
    model, tokenizer = minillm.load("tiny")
    pruned = prune(model, pattern="2:4")
    stored = sparse.sparsify(pruned, form)
    tokens = torch.tensor(tokenizer.encode("Once upon a time"))
    assert torch.equal(stored(tokens), sparse.densify(stored)(tokens))
    torch.testing.assert_close(stored(tokens), pruned(tokens), rtol=1e-5, atol=1e-5)
    assert stored.num_parameters() == model.num_parameters()
    dense = sum(pruned.weight_bytes()["linear"].values())
    assert sum(stored.weight_bytes()["linear"].values()) == dense * (0.5 + 1 / 32)
    again = sparse.densify(stored)
    for a, b in zip(pruned.layers.modules(), again.layers.modules()):
        if isinstance(b, nn.Linear):
            assert torch.equal(a.weight, b.weight)
    assert minillm.generate(stored, tokens.tolist(), minillm.SamplingParams(max_tokens=4))


def test_a_dense_model_has_no_two_of_four_form():
    model, _ = minillm.load("tiny")
    with pytest.raises(ValueError, match=r"layers\.0\.attention\.qkv: not 2:4"):
        sparse.sparsify(model)


def test_a_sparse_form_is_not_saved_in_silence(tmp_path):
    model, tokenizer = minillm.load("tiny")
    stored = sparse.sparsify(prune(model, pattern="2:4"))
    with pytest.raises(SaveError, match=r"sparse\.densify"):
        minillm.save(stored, tokenizer, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_why_a_card_cannot_is_told():
    x, values = torch.zeros(1, 64), torch.zeros(32, 32)
    assert "not on a CUDA device" in sparse.why_not(x, values)


class _Card:
    """Stands for a tensor on a card; only what why_not reads."""

    is_cuda, device = True, "cuda:0"

    def __init__(self, dtype, shape=(32, 32)):
        self.dtype, self.shape = dtype, shape


@pytest.mark.parametrize(
    "capability, x, values, words",
    [
        ((7, 5), _Card(torch.float16), _Card(torch.float16), "8.0 or later, this card has 7.5"),
        ((8, 0), _Card(torch.float32), _Card(torch.float32), "16-bit values"),
        ((8, 0), _Card(torch.float16), _Card(torch.bfloat16), "16-bit values"),
        ((9, 0), _Card(torch.float16), _Card(torch.float16, (30, 32)), "32 rows and 64 columns"),
        ((8, 0), _Card(torch.bfloat16), _Card(torch.bfloat16), None),
    ],
)
def test_the_card_is_chosen_by_capability(monkeypatch, capability, x, values, words):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    found = sparse.why_not(x, values)
    assert found is None if words is None else words in found
