"""The buffer of a small model's matrices: same names, shapes and values, and nothing else moves."""

import copy

import torch

from minillm import arena
from minillm.config import ModelConfig
from minillm.model import Transformer
from minillm.weights import fill

SMALL = ModelConfig(
    family="llama", vocab_size=11, width=8, mlp_width=12, num_layers=2, num_heads=2,
    num_kv_heads=1, head_size=4, max_len=32, tie_embeddings=True,
)  # fmt: skip


def tensors():
    return {
        "a": torch.randn(3, 5),
        "b": torch.randn(7, 2),
        "norm": torch.randn(5),
        "half": torch.randn(3, 5).half(),
        "double": torch.randn(4, 4).double(),
        "empty": torch.empty(0, 4),
    }


def test_values_and_shapes_stay():
    before = tensors()
    after = arena.gather(before)
    assert list(after) == list(before)
    for name in before:
        assert after[name].dtype == before[name].dtype
        assert torch.equal(after[name], before[name])


def test_only_float32_matrices_move_into_one_buffer_row_after_row():
    before = tensors()
    after = arena.gather(before)
    for name in ("norm", "half", "double"):
        assert after[name] is before[name]
    assert after["a"].is_contiguous() and after["b"].is_contiguous()
    assert after["b"].data_ptr() - after["a"].data_ptr() == 15 * 4
    assert after["a"].data_ptr() % 64 == 0


def test_a_large_model_stays_where_it_is(monkeypatch):
    before = tensors()
    monkeypatch.setattr(arena, "LIMIT", (15 + 14) * 4 - 1)
    assert arena.gather(before) is before


def test_without_huge_pages(monkeypatch):
    before = tensors()
    monkeypatch.delattr(arena.mmap, "MADV_HUGEPAGE", raising=False)
    assert torch.equal(arena.gather(before)["a"], before["a"])


def test_a_model_in_the_buffer_computes_and_counts_the_same():
    torch.manual_seed(0)
    plain = Transformer(SMALL).requires_grad_(False)
    state = {n: p.detach().clone() for n, p in plain.named_parameters()}
    with torch.device("meta"):
        empty = Transformer(SMALL)
    moved = fill(empty, state)
    tokens_T = torch.tensor([1, 2, 3, 4])
    assert torch.allclose(moved(tokens_T), plain(tokens_T), atol=1e-5)
    assert moved.weight_bytes() == plain.weight_bytes()
    assert moved.head.weight is moved.embedding.weight
    again = copy.deepcopy(moved).double()
    assert torch.allclose(again(tokens_T).float(), plain(tokens_T), atol=1e-5)


def test_writing_into_one_matrix_leaves_the_others():
    after = arena.gather({"a": torch.zeros(3, 5), "b": torch.ones(7, 2)})
    after["a"].fill_(9.0)
    assert after["b"].eq(1.0).all()
