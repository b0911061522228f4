"""Structured pruning: equal to the masked dense model, really smaller, loadable by others."""

import copy
import json
from dataclasses import replace

import pytest
import torch
import transformers
import zoo
from torch import nn

import minillm
from minillm import clock
from minillm.cache.simple import NoCache, StripCache
from minillm.compress.calibrate import own_texts
from minillm.compress.importance import block_influence, importance
from minillm.compress.shrink import Kept, choose, cut, shrink
from minillm.files import SaveError


@pytest.fixture(scope="module")
def tiny():
    return minillm.load("tiny")


@pytest.fixture(scope="module")
def texts(tiny):
    return own_texts(tiny[1], 12)


def masked(model, kept: Kept):
    """The dense model with what is dropped set to 0, every matrix in its old size."""
    c, new = model.config, copy.deepcopy(model)
    with torch.no_grad():
        for number, block in enumerate(new.layers):
            o, down = block.attention.o, block.mlp.down
            if number not in kept.layers:
                for layer in (o, down):
                    layer.weight.zero_()
                    if layer.bias is not None:
                        layer.bias.zero_()
                continue
            at = kept.layers.index(number)
            for head in set(range(c.num_heads)) - set(kept.heads[at]):
                o.weight[:, head * c.head_size : (head + 1) * c.head_size] = 0
            gone = sorted(set(range(c.mlp_width)) - set(kept.channels[at]))
            down.weight[:, gone] = 0
    return new


def calibration(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(zoo.VOCAB, (n,), generator=generator) for n in (9, 30)]


WANTED = [
    dict(channels=0.5),
    dict(layers=1),
    dict(kv_heads=1),
    dict(heads=0.5),
    dict(heads=0.6, channels=11, layers=0.5),
]


@pytest.mark.parametrize("given_text", [True, False])
@pytest.mark.parametrize("wanted", WANTED, ids=str)
@pytest.mark.parametrize("name", [*zoo.ONE_OF_EACH, "llama all biases", "llama 12/2"])
def test_equal_to_the_masked_dense_model(name, wanted, given_text):
    model = zoo.random_model(name, torch.float64)
    kept = choose(model, calibration=calibration() if given_text else None, **wanted)
    small, tokens = cut(model, kept), calibration(1)[1]
    torch.testing.assert_close(small(tokens), masked(model, kept)(tokens), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["llama 12/2", "gemma3", "qwen3"])
def test_everything_that_is_counted_shrinks(name):
    model = zoo.random_model(name, torch.float32)
    small = shrink(model, heads=0.5, channels=0.5, layers=1)
    a, b = model.config, small.config
    assert (b.num_layers, b.mlp_width, b.head_size) == (1, a.mlp_width // 2, a.head_size)
    assert len(b.windows) == len(b.rope_of_layer) == 1
    assert small.num_parameters() == clock.num_parameters(b) < model.num_parameters()
    assert b.kv_bytes_per_token(4) < a.kv_bytes_per_token(4)
    bytes_of = lambda m: sum(sum(v.values()) for v in m.weight_bytes().values())
    assert bytes_of(small) == 4 * small.num_parameters() < bytes_of(model)
    cost = lambda c: clock.step_cost(c, 1, 32, 4, 4).flops
    assert cost(b) < cost(a)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_the_cache_counts_the_layers_that_are_left(gone):
    model = zoo.random_model("gemma3", torch.float64)
    small = shrink(model, layers=[i for i in range(3) if i != gone])
    assert [block.layer for block in small.layers] == [0, 1]
    tokens = calibration()[1]
    whole = small(tokens, memory=NoCache(small.config))
    cache = StripCache.for_model(small, 40)
    steps = torch.cat([small(tokens[i : i + 1], memory=cache) for i in range(len(tokens))])
    torch.testing.assert_close(steps, whole, rtol=1e-9, atol=1e-9)
    kept = [model.config.windows[i] for i in range(3) if i != gone]
    assert list(small.config.windows) == kept


def test_the_engine_serves_a_shrunk_model(tiny, texts):
    model, tokenizer = tiny
    small = shrink(model, layers=4, heads=4, channels=300, calibration=texts)
    prompts = ["Once upon a time", "copy: a b c ="]
    params = minillm.SamplingParams(max_tokens=12)
    got = minillm.LLM(small, tokenizer, minillm.EngineConfig(num_blocks=32)).generate(
        prompts, params
    )
    alone = [minillm.generate(small, tokenizer.encode(p), params) for p in prompts]
    assert [c.tokens for c in got] == alone


SHAPES = {
    "heads divide the width": dict(heads=4, channels=0.7, layers=5),
    "heads do not": dict(heads=6, channels=0.7, layers=5),
    "one group": dict(kv_heads=1, layers=[0, 5]),
}


@pytest.mark.parametrize("wanted", SHAPES.values(), ids=SHAPES)
def test_transformers_loads_the_folder_with_equal_logits(tiny, texts, tmp_path, wanted):
    model, tokenizer = tiny
    kept = choose(model, calibration=texts, **wanted)
    small = cut(model, kept)
    minillm.save(small, tokenizer, tmp_path / "small")
    data = json.loads((tmp_path / "small" / "config.json").read_text())
    assert data["head_dim"] == 32 and data["num_hidden_layers"] == small.config.num_layers
    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path / "small", dtype=torch.float32
    )
    tokens = torch.tensor(texts[0][:64])
    with torch.no_grad():
        expected = theirs(tokens[None]).logits[0]
    ours, dense = small(tokens), masked(model, kept)(tokens)
    for other in (expected, dense):
        assert float((ours - other).abs().max() / other.abs().max()) <= 1e-5
    back, _ = minillm.load(str(tmp_path / "small"))
    assert torch.equal(back(tokens), ours)


@pytest.mark.parametrize("layer", [0, 1])  # of gemma3 the first has a window, the second has none
@pytest.mark.parametrize("name", ["mistral window", "qwen2 window from layer 1", "qwen3", "gemma3"])
def test_other_families_are_loaded_too(name, layer, tmp_path):
    model = zoo.random_model(name, torch.float32)
    small = shrink(model, channels=0.5, layers=[layer], calibration=calibration())
    minillm.save(small, None, tmp_path / "small")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path / "small", dtype=torch.float32, attn_implementation="eager"
    )
    tokens = calibration(1)[1]
    with torch.no_grad():
        expected = theirs(tokens[None]).logits[0]
    assert float((small(tokens) - expected).abs().max() / expected.abs().max()) <= 1e-5


def test_block_influence_by_hand():
    """A layer that writes nothing has influence 0; one that turns the stream round has 2."""
    model = zoo.random_model("llama 5:1", torch.float64)
    with torch.no_grad():
        model.layers[0].attention.o.weight.zero_()
        model.layers[0].mlp.down.weight.zero_()
    found = block_influence(model, calibration())
    assert abs(found[0]) < 1e-12 and found[1] > 1e-3
    kept = choose(model, layers=1, calibration=calibration())
    assert kept.layers == (1,)
    assert choose(model, layers=1).layers == (1,)  # by weights too: it writes nothing


def test_importance_is_the_size_of_what_is_added(tiny, texts):
    """Of one head and one channel, on the tokens themselves."""
    model, held = tiny[0], {}
    found = importance(model, texts)[2]
    block = model.layers[2]
    hooks = [
        layer.register_forward_pre_hook(lambda m, args, n=n: held.setdefault(n, []).append(args[0]))
        for n, layer in (("o", block.attention.o), ("down", block.mlp.down))
    ]
    for text in texts:
        model(torch.tensor(text))
    for hook in hooks:
        hook.remove()
    x, down = torch.cat(held["down"]).double(), block.mlp.down.weight.double()
    expected = (x[:, 7, None] * down[:, 7]).square().sum()
    assert float(found.channels_F[7]) == pytest.approx(float(expected), rel=1e-4)
    x, o = torch.cat(held["o"]).double(), block.attention.o.weight.double()
    expected = (x[:, 96:128] @ o[:, 96:128].T).square().sum()
    assert float(found.heads_H[3]) == pytest.approx(float(expected), rel=1e-4)


def test_the_best_parts_stay(tiny, texts):
    model = tiny[0]
    kept = choose(model, channels=100, heads=4, calibration=texts)
    for found, channels, heads in zip(importance(model, texts), kept.channels, kept.heads):
        gone = sorted(set(range(512)) - set(channels))
        assert found.channels_F[list(channels)].min() >= found.channels_F[gone].max()
        for group in (range(4), range(4, 8)):
            stay = [h for h in group if h in heads]
            rest = [h for h in group if h not in heads]
            assert len(stay) == 2
            assert found.heads_H[stay].min() >= found.heads_H[rest].max()


def test_layers_are_chosen_by_text_far_better_than_by_weights(tiny, texts):
    from minillm.compress.evaluate import tale_perplexity

    model, tokenizer = tiny
    by = [shrink(model, layers=5, calibration=t) for t in (texts, None)]
    measured, weights = [tale_perplexity(m, tokenizer, 10) for m in by]
    assert measured < 1.6 and weights > 100


def test_the_original_is_left_alone_and_shares_nothing(tiny):
    model = tiny[0]
    before = [p.clone() for p in model.parameters()]
    small = shrink(model, layers=5)
    for parameter in small.parameters():
        parameter.data.add_(1.0)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters()))


def test_what_is_kept_may_be_named(tiny):
    model = tiny[0]
    small = shrink(model, heads=[0, 5], channels=[1, 3, 511], layers=[5, 0])
    c = small.config
    assert (c.num_heads, c.num_kv_heads, c.mlp_width, c.num_layers) == (2, 2, 3, 2)
    assert torch.equal(
        small.layers[1].mlp.down.weight, model.layers[5].mlp.down.weight[:, [1, 3, 511]]
    )
    whole = shrink(model, heads=[0, 1, 2, 3])
    assert (whole.config.num_heads, whole.config.num_kv_heads) == (4, 1)


@pytest.mark.parametrize(
    "wanted, words",
    [
        (dict(heads=5), "with 2 KV heads .* one of 2, 4, 6, 8 can remain, got 5"),
        (dict(heads=7, kv_heads=1), "one of 1, 2, 3, 4 can remain, got 7"),
        (dict(heads=[0, 1, 4]), "equally many query heads, this list leaves"),
        (dict(heads=[0], kv_heads=1), "leave kv_heads out"),
        (dict(heads=0), "heads says what remains: a whole number from 1 to 8"),
        (dict(channels=0), "channels says what remains"),
        (dict(channels=513), "a whole number from 1 to 512"),
        (dict(channels=1.5), "a share above 0 and below 1"),
        (dict(channels=True), "channels says what remains"),
        (dict(layers=0), "layers says what remains"),
        (dict(layers=[]), "layers: a list holds different numbers from 0 to 5"),
        (dict(layers=[1, 1]), "layers: a list holds different numbers"),
        (dict(layers=[6]), "from 0 to 5"),
        (dict(layers=5, calibration=["text"]), "encode the texts first"),
        (dict(kv_heads=3), "kv_heads says what remains: a whole number from 1 to 2"),
    ],
)
def test_what_cannot_remain_is_one_clear_error(tiny, wanted, words):
    with pytest.raises(ValueError, match=words):
        shrink(tiny[0], **wanted)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_weight_without_a_size_is_refused_by_name(bad):
    model = zoo.random_model("llama 5:1", torch.float32)
    model.layers[1].mlp.down.weight[2, 3] = bad
    for wanted in (dict(layers=1), dict(layers=1, calibration=calibration()), dict(channels=5)):
        with pytest.raises(ValueError, match=r"layers\.1\.mlp\.down\.weight holds inf or NaN"):
            shrink(model, **wanted)


def test_nothing_asked_nothing_lost(tiny):
    same = shrink(tiny[0])
    assert same.config == tiny[0].config
    assert all(torch.equal(a, b) for a, b in zip(same.parameters(), tiny[0].parameters()))


def test_a_shrunk_model_can_be_quantised(tiny, texts, tmp_path):
    small = minillm.quantize(shrink(tiny[0], heads=6, channels=384), "int4")
    minillm.save(small, tiny[1], tmp_path / "both")
    back, _ = minillm.load(str(tmp_path / "both"))
    tokens = torch.tensor(texts[0][:32])
    assert torch.equal(back(tokens), small(tokens))
    assert not any(isinstance(m, nn.Linear) for m in back.layers.modules())


def test_what_transformers_would_refuse_is_refused_with_the_reason(tmp_path):
    """It wants heads that divide the width of a Gemma, which it never uses."""
    wide = zoo.random_model("gemma3 biases, untied, 6/2", torch.float32)
    small = shrink(wide, heads=4)  # 4 divides 36
    minillm.save(small, None, tmp_path / "four")
    wide.config = replace(wide.config, width=40)
    with pytest.raises(SaveError, match=r"divides the width: 6 heads, width 40; keep \[2, 4\]"):
        minillm.save(wide, None, tmp_path / "odd")
    assert not (tmp_path / "odd").exists()
