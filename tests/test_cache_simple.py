"""Memories change how much is computed again, never what comes out."""

from __future__ import annotations

import dataclasses
import random

import pytest
import torch
import zoo

from minillm.cache.simple import NoCache, PackedRows, StripCache

LENGTH = 23


def strip(model, max_len=40):
    """A strip full of NaN: whatever is read beyond its length poisons the logits."""
    memory = StripCache.for_model(model, max_len)
    memory.kv.fill_(float("nan"))
    return memory


def close(got, want):
    return bool((got - want).abs().max() < 1e-12 * want.abs().max())  # NaN is not close


@pytest.mark.parametrize("name", zoo.CASES)
def test_any_chunking_gives_the_logits_of_the_whole_text(name):
    """Also the test for positions that are off by one, and for masks aligned to the top left."""
    model, tokens_T = zoo.random_model(name), zoo.random_tokens(LENGTH)
    whole_TV = model(tokens_T, memory=NoCache(model.config))
    cuts = random.Random(name)
    random_sizes = [cuts.randint(1, 6) for _ in range(LENGTH)]
    for sizes in ([LENGTH], [1] * LENGTH, [LENGTH - 1, 1], [1, LENGTH], [7] * 4, random_sizes):
        memory, start = strip(model), 0
        for size in sizes:
            chunk_T = tokens_T[start : start + size]
            if len(chunk_T):
                got_TV = model(chunk_T, memory=memory)
                assert close(got_TV, whole_TV[start : start + size]), (sizes, start)
            start += len(chunk_T)
            assert memory.length == start


@pytest.mark.parametrize("name", zoo.ONE_OF_EACH)
def test_a_full_strip_says_so_and_stays_usable(name):
    model, tokens_T = zoo.random_model(name), zoo.random_tokens(12)
    memory = strip(model, max_len=10)
    model(tokens_T[:8], memory=memory)
    held = memory.kv[:, :, :8].clone()
    with pytest.raises(ValueError, match="holds 10 tokens, this step needs 11.*max_len"):
        model(tokens_T[8:11], memory=memory)
    assert memory.length == 8 and torch.equal(memory.kv[:, :, :8], held)
    want_TV = model(tokens_T[:10])
    assert close(model(tokens_T[8:10], memory=memory), want_TV[8:])  # exactly full is allowed
    assert memory.length == 10


def test_an_exception_in_the_middle_of_a_step_leaves_the_length():
    model, tokens_T = zoo.random_model("gemma3"), zoo.random_tokens(9)
    memory = strip(model)
    model(tokens_T[:5], memory=memory)

    def interrupt(*_):
        raise KeyboardInterrupt

    hook = model.layers[2].register_forward_pre_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        model(tokens_T[5:], memory=memory)
    hook.remove()
    assert memory.length == 5
    assert close(model(tokens_T[5:], memory=memory), model(tokens_T)[5:])


def test_a_strip_works_with_gradients_on():
    model, tokens_T = zoo.random_model("qwen3"), zoo.random_tokens(9)
    want_TV = model(tokens_T)
    model.requires_grad_(True)  # as every Transformer(config) before it is loaded
    memory = strip(model)
    with torch.enable_grad():
        got = [model(part, memory=memory) for part in (tokens_T[:5], tokens_T[5:8], tokens_T[8:])]
    assert close(torch.cat(got), want_TV)


def test_a_strip_can_be_cut_back():
    model, tokens_T = zoo.random_model("mistral window"), zoo.random_tokens(9)
    memory = strip(model)
    model(zoo.random_tokens(9, seed=5), memory=memory)
    memory.length = 0
    assert close(model(tokens_T, memory=memory), model(tokens_T))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_strip_takes_dtype_and_shape_from_the_model(dtype):
    model = zoo.random_model("qwen3", dtype)
    memory = strip(model, 17)
    assert memory.kv.dtype == dtype and memory.kv.shape == (2, 2, 17, 2, 10)
    assert model(zoo.random_tokens(3), memory=memory).dtype == dtype


@pytest.mark.parametrize("length", [1, 9, 512, 513])
@pytest.mark.parametrize("name", ["llama 5:1", "llama 12/2", "llama every head its own"])
def test_packed_rows_equal_row_by_row(name, length):
    """Up to 512 tokens the scores are written out, above SDPA does it: both must agree."""
    config = dataclasses.replace(zoo.config_of(name), num_layers=1, windows=(), rope_of_layer=())
    model = zoo.fill_randomly(type(zoo.random_model(name))(config)).double()
    rows = 3 if length < 100 else 2
    tokens_T = zoo.random_tokens(rows * length)
    memory = PackedRows(config, rows)
    got_TV = model(tokens_T, memory.positions(len(tokens_T)), memory)
    for row in range(rows):
        part = slice(row * length, (row + 1) * length)
        assert close(got_TV[part], model(tokens_T[part]))


@pytest.mark.parametrize("name", ["mistral window", "gemma3"])
def test_packed_rows_meet_only_windows_that_they_fit_into(name):
    model = zoo.random_model(name)
    shortest = min(window for window in model.config.windows if window)
    for length in (shortest, shortest + 1):
        memory, tokens_T = PackedRows(model.config, 2), zoo.random_tokens(2 * length)
        if length > shortest:
            with pytest.raises(AssertionError):
                model(tokens_T, memory.positions(len(tokens_T)), memory)
            continue
        got_TV = model(tokens_T, memory.positions(len(tokens_T)), memory)
        assert close(got_TV[length:], model(tokens_T[length:]))
