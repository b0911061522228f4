"""Chapter 04: its exercises' references agree with the package, which other tests prove."""

import random

import pytest
import torch

from exercises.grading import spec
from exercises.grading.judge import normal
from minillm import ops
from minillm.cache.simple import StripCache
from minillm.clock import num_parameters
from minillm.config import ModelConfig

PUBLISHED = {  # layers, width, MLP, query heads, KV heads, vocabulary, further flags
    "Llama-2-7B": (32, 4096, 11008, 32, 32, 32000, {}),
    "Llama-3-8B": (32, 4096, 14336, 32, 8, 128256, {}),
    "Qwen3-0.6B": (28, 1024, 3072, 16, 8, 151936, {"tie_embeddings": True, "qk_norm": True}),
}


def published(name):
    layers, width, mlp, heads, kv_heads, vocab, flags = PUBLISHED[name]
    return ModelConfig(
        family="llama", vocab_size=vocab, width=width, mlp_width=mlp, num_layers=layers,
        num_heads=heads, num_kv_heads=kv_heads, head_size=128, max_len=4096, **flags,
    )  # fmt: skip


@pytest.mark.parametrize("cached, new", [(0, 1), (0, 5), (7, 1), (6, 4)])
def test_append_and_attend_is_the_packages_cache(cached, new):
    rng = random.Random(f"{cached}/{new}")
    config = ModelConfig(
        family="llama", vocab_size=8, width=30, mlp_width=8, num_layers=1,
        num_heads=6, num_kv_heads=2, head_size=4, max_len=32,
    )  # fmt: skip
    cache = StripCache(config, max_len=12)
    cache.kv.fill_(torch.nan)
    strips, answer = torch.full((2, 12, 2, 4), torch.nan), spec.reference("4.2")
    length = 0
    for count in (cached, new) if cached else (new,):
        q, k, v = normal(rng, count, 6, 4), normal(rng, count, 2, 4), normal(rng, count, 2, 4)
        want = cache.attend(0, q, k, v)
        got = answer(strips[0], strips[1], length, q, k, v, config.attention_scale)
        torch.testing.assert_close(got, want)
        length += count
    assert torch.equal(strips[:, :length], cache.kv[0, :, :length])
    assert strips[:, length:].isnan().all()


@pytest.mark.parametrize("queries, keys", [(1, 1), (1, 9), (3, 7), (5, 5)])
def test_mask_is_the_packages_mask(queries, keys):
    got = spec.reference("4.3")(queries, keys)
    assert torch.equal(got, ops.causal_mask(queries, keys, window=None))


@pytest.mark.parametrize("name", PUBLISHED)
def test_bytes_are_those_that_a_cache_holds(name):
    config, row = published(name), spec.check_of("4.4").CONFIGS[name]
    fields = dict(zip(spec.check_of("4.4").NAMES, row))
    assert fields == {key: getattr(config, key) for key in fields}
    article, real = spec.reference("4.4")(fields, 33, 1, 2)
    assert real == StripCache(config, 33, torch.float16, device="meta").kv.nbytes
    assert article / real == {"Llama-3-8B": 4}.get(name, 1)


def test_lengths_at_which_the_cache_outgrows_the_weights():
    check = spec.check_of("4.5")
    found = spec.reference("4.5")(**check.cases("")[0])
    for name, parameters, got in zip(PUBLISHED, check.MODELS, found, strict=True):
        config = published(name)
        assert parameters[0] == num_parameters(config)
        assert got == 2 * num_parameters(config) / config.kv_bytes_per_token(2)
    assert [round(x) for x in found] == [25705, 122532, 10394]  # published figures


def test_ring_is_attention_with_a_window():
    rng, window, count = random.Random(0), 4, 11
    q, k, v = normal(rng, count, 6, 8), normal(rng, count, 2, 8), normal(rng, count, 2, 8)
    want = ops.attention(q, k, v, 0.3, window=window)
    rings, answer = torch.full((2, window, 2, 8), torch.nan), spec.reference("4.7")
    for p in range(count):
        got = answer(rings[0], rings[1], p, q[p], k[p], v[p], 0.3)
        torch.testing.assert_close(got, want[p])


@pytest.mark.parametrize("variant", ["ex8", "ex8_b", "ex8_c"])
def test_every_variant_of_the_hunt_is_a_fault(variant):
    from exercises.grading.judge import Wrong

    path = spec.file_of("4.8", "fresh").with_name(f"{variant}.py")
    answer, check = spec.load_module(path).decode_logits, spec.check_of("4.8")
    caught = 0
    for case in spec.cases("4.8", "any"):
        try:
            check.judge(case, check.drive(answer, case))
        except Wrong:
            caught += 1
    assert caught >= 2


@pytest.mark.parametrize("slip, said", [
    (lambda p, n, width, heads, kv, size: p / (2 * n * width), "Yours uses the width"),
    (lambda p, n, width, heads, kv, size: p / (n * kv * size), "both K and V"),
    (lambda p, n, width, heads, kv, size: p / (2 * kv * size), "all 32 layers"),
    (lambda p, n, width, heads, kv, size: p / (3.3 * n * kv * size), "allowed"),
])  # fmt: skip
def test_a_slip_in_one_model_is_named(slip, said):
    from exercises.grading.judge import Wrong

    check = spec.check_of("4.5")
    case = check.cases("")[0]
    answer = spec.reference("4.5")(**case)
    check.judge(case, answer)
    answer[1] = slip(*check.MODELS[1])
    with pytest.raises(Wrong, match=said) as caught:
        check.judge(case, answer)
    assert "Llama-3-8B" in str(caught.value)


def test_all_requests_together_is_named():
    from exercises.grading.judge import Wrong

    check = spec.check_of("4.5")
    case = next(c for n in range(99) for c in check.cases(f"s{n}") if c["users"] == 8)
    with pytest.raises(Wrong, match="asked are those of ONE"):
        check.judge(case, [8 * x for x in spec.reference("4.5")(**case)])


@pytest.mark.parametrize("exercise_id, name", [
    ("4.2", "reads_the_empty_part"), ("4.7", "reads_empty_rows"),
])  # fmt: skip
def test_nan_is_explained(exercise_id, name):
    from exercises.grading.judge import Wrong

    check, answer = spec.check_of(exercise_id), spec.variants(exercise_id, "wrong")[name]
    case = spec.cases(exercise_id, "any")[0]
    with pytest.raises(Wrong, match="holds NaN. An empty row took part"):
        check.judge(case, check.drive(answer, case))


@pytest.mark.parametrize("exercise_id", ["4.2", "4.7"])
def test_no_input_has_heads_that_cannot_be_shared(exercise_id):
    size = {**spec.get(exercise_id).sizes[0], "H": 3, "G": 2}
    with pytest.raises(ValueError, match="cannot share"):
        spec.check_of(exercise_id).make(random.Random(0), **size)
