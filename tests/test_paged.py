"""The paged pool: attention through block tables equals the whole sequence at once."""

from __future__ import annotations

import pytest
import torch
import zoo

from minillm.cache import paged
from minillm.cache.paged import Batch, PagedCache, quantize_tokens, slots_of

TABLES = torch.tensor([[3, 7, 1, 11], [9, 0, 2, 4], [5, 6, 8, 10]])
STEPS = [[4, 1, 6], [1, 3, 1], [1, 1, 5], [3, 0, 1]]  # new tokens of three requests
LENGTHS = [9, 5, 13]


def run(model, cache, texts):
    """Three requests in four steps of mixed pieces -> logits of each, all rows."""
    done, rows = [0, 0, 0], [[], [], []]
    for counts in STEPS:
        order = sorted((i for i in range(3) if counts[i]), key=lambda i: counts[i] > 1)
        ends = [done[i] + counts[i] for i in order]
        places = [slice(done[i], end) for i, end in zip(order, ends)]
        slots = [slots_of(TABLES[i], end, 4)[p] for i, end, p in zip(order, ends, places)]
        new = tuple(counts[i] for i in order)
        batch = Batch(torch.cat(slots), TABLES[order], torch.tensor(ends), new, new.count(1))
        tokens = torch.cat([texts[i][p] for i, p in zip(order, places)])
        positions = torch.cat([torch.arange(p.start, p.stop) for p in places])
        with torch.inference_mode():
            logits = model(tokens, positions, cache.at(batch))
        for i, part in zip(order, logits.split(new)):
            rows[i].append(part)
            done[i] += counts[i]
    assert done == LENGTHS
    return [torch.cat(r) for r in rows]


def pool(model, **options) -> PagedCache:
    return PagedCache(model.config, 12, 4, dtype=torch.float64, **options)


def difference(model, cache) -> float:
    texts = [zoo.random_tokens(n, seed=n) for n in LENGTHS]
    worst = 0.0
    for text, got in zip(texts, run(model, cache, texts)):
        with torch.inference_mode():
            want = model(text)
        worst = max(worst, float((got - want).abs().max() / want.abs().max()))
    return worst


@pytest.mark.parametrize("name", zoo.CASES)
def test_logits_equal_those_of_whole_sequences_over_a_pool_of_nan(name):
    model = zoo.random_model(name)
    cache = pool(model)
    cache.kv.fill_(float("nan"))
    assert difference(model, cache) < 1e-12


@pytest.mark.parametrize("name", ["llama 5:1", "gemma3"])
def test_int8_stays_within_its_half_steps(name):
    """Not exact, but close, and not by chance: coarser scales would be worse."""
    model = zoo.random_model(name)
    cache = pool(model, kv_dtype="int8")
    cache.scale.fill_(float("nan"))
    assert 1e-6 < difference(model, cache) < 0.05
    numbers = cache.kv.numel()
    assert cache.nbytes == numbers + numbers // model.config.head_size * 8


def test_int8_of_a_token_is_within_half_a_step_of_its_own_scale():
    x = torch.randn(7, 2, 16, dtype=torch.float64) * torch.logspace(-3, 3, 7)[:, None, None]
    x[3, 1] = 0
    q, scale = quantize_tokens(x)
    assert q.dtype == torch.int8 and scale.shape == (7, 2) and bool((scale > 0).all())
    back = q.double() * scale[..., None]
    assert bool(((back - x).abs() <= scale[..., None] * (0.5 + 1e-12)).all())
    assert bool((back[3, 1] == 0).all())
    full = q.abs().amax(-1)[x.abs().amax(-1) > 0]
    assert bool((full == 127).all()), "the largest number of a token uses the whole range"


def test_stored_tokens_are_never_quantised_again():
    model = zoo.random_model("qwen3")
    cache = pool(model, kv_dtype="int8")
    k = torch.randn(3, model.config.num_kv_heads, model.config.head_size, dtype=torch.float64)
    cache.write(0, torch.tensor([4, 5, 6]), k, k)
    before = cache.kv[0, :, 4:7].clone(), cache.scale[0, :, 4:7].clone()
    cache.write(0, torch.tensor([7, 0, 1]), 1000 * k, 1000 * k)  # same block, other scale
    assert torch.equal(cache.kv[0, :, 4:7], before[0])
    assert torch.equal(cache.scale[0, :, 4:7], before[1])


@pytest.mark.parametrize("kv_dtype", [None, "int8"])
def test_copies_of_one_plan_all_read_before_any_writes(kv_dtype):
    model = zoo.random_model("qwen3")
    cache = pool(model, kv_dtype=kv_dtype)
    for block in range(12):
        cache.kv[:, :, block * 4 : block * 4 + 4] = block
        if kv_dtype:
            cache.scale[:, :, block * 4 : block * 4 + 4] = block
    cache.copy_blocks([(3, 5), (1, 3), (0, 11)])  # 3 is read by one copy, written by another
    held = lambda tensor: [int(tensor[-1, -1, b * 4 + 3].flatten()[0]) for b in range(12)]
    want = [0, 1, 2, 1, 4, 3, 6, 7, 8, 9, 10, 0]
    assert held(cache.kv) == want and (not kv_dtype or held(cache.scale) == want)
    cache.copy_blocks([])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_other_number_formats_are_stored_as_they_are(dtype):
    model = zoo.random_model("llama 5:1", dtype=dtype)
    cache = PagedCache(model.config, 12, 4, dtype=dtype)
    cache.kv.fill_(float("nan"))
    texts = [zoo.random_tokens(n, seed=n) for n in LENGTHS]
    wide = zoo.random_model("llama 5:1")
    for text, got in zip(texts, run(model, cache, texts)):
        assert got.dtype == dtype and bool(got.isfinite().all())
        with torch.inference_mode():
            want, low = wide(text), model(text).double()
        error = float((low - want).abs().max())  # of the same format without pages
        assert float((got.double() - want).abs().max()) <= 2 * error + 1e-6


@pytest.mark.parametrize("kv_dtype", [None, "int8"])
def test_few_slots_and_many_are_gathered_alike(kv_dtype, monkeypatch):
    model = zoo.random_model("llama 5:1", torch.float64)
    cache = pool(model, kv_dtype=kv_dtype)
    shape = (cache.kv[0, 0].shape[0], *cache.kv.shape[3:])
    k_TGK, v_TGK = torch.randn(2, *shape, dtype=torch.float64).unbind()
    cache.write(1, torch.arange(shape[0]), k_TGK, v_TGK)
    slots = torch.tensor([[5, 0, 5], [3, 1, shape[0] - 1]])
    found = []
    for limit in (0, 1 << 30):
        monkeypatch.setattr(paged, "FEW_NUMBERS", limit)
        found.append(cache.read(1, slots))
    for few, many, all_TGK in zip(*found, (k_TGK, v_TGK)):
        assert torch.equal(few, many) and few.shape == (2, 3, *shape[1:])
        assert (few - all_TGK[slots]).abs().max() < (0.05 if kv_dtype else 1e-12)
