"""Pruning: exact counts on awkward matrices, the toy layer's bars, and zeros that stay zeros."""

import pytest
import torch
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from test_calibrated import error, toy
from torch import nn

import minillm
from minillm.compress import masks, sparse
from minillm.compress.calibrate import own_texts
from minillm.compress.gptq import gptq
from minillm.compress.linear import QuantLinear
from minillm.compress.prune import prune, sparsity_of
from minillm.compress.quant import quantize
from minillm.compress.sparsegpt import sparsegpt
from minillm.weights import hf_tensors

METHODS = ("magnitude", "wanda", "sparsegpt")


@pytest.fixture(scope="module")
def tiny():
    return minillm.load("tiny")


@pytest.fixture(scope="module")
def texts(tiny):
    return own_texts(tiny[1], 12)


def awkward(rows, columns, kind, seed):
    """Weights with ties, zeros of both signs, equal rows."""
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(rows, columns, generator=generator)
    if kind == "grid":  # as weights that lie on an int4 grid already
        return (weight * 3).round().clamp(-7, 7) * 0.25
    if kind == "equal":
        return torch.full((rows, columns), -0.5)
    if kind == "zeros":
        return torch.where(weight > 0, torch.zeros(()), -torch.zeros(()))
    if kind == "rows":
        return weight[:, :1].repeat(1, columns)
    return weight


KINDS = st.sampled_from(["normal", "grid", "equal", "zeros", "rows"])
SIZES = st.integers(1, 40)


@settings(max_examples=150, deadline=None)
@given(SIZES, SIZES, KINDS, st.floats(0, 1), st.integers(0, 999))
def test_the_mask_drops_exactly_so_many_and_the_lowest(rows, columns, kind, sparsity, seed):
    scores = awkward(rows, columns, kind, seed).abs()
    count = masks.count_pruned(sparsity, scores.numel())
    mask = masks.lowest(scores, count)
    assert int((~mask).sum()) == count
    expected = scores.flatten().argsort(stable=True)[:count]  # of equals, lower numbers first
    assert set((~mask).flatten().nonzero().flatten().tolist()) == set(expected.tolist())
    by_row = masks.count_pruned(sparsity, columns)
    assert ((~masks.lowest_of_rows(scores, by_row)).sum(1) == by_row).all()


@settings(max_examples=60, deadline=None)
@given(SIZES, st.integers(1, 9), st.sampled_from([(2, 4), (4, 8), (1, 4), (3, 5)]), KINDS)
def test_n_of_every_m_stay(rows, groups, pattern, kind):
    keep, size = pattern
    scores = awkward(rows, groups * size, kind, rows).abs()
    mask = masks.lowest_of_groups(scores, pattern)
    assert (mask.view(rows, groups, size).sum(-1) == keep).all()
    kept, gone = scores.masked_fill(~mask, torch.inf), scores.masked_fill(mask, -torch.inf)
    inside = lambda x: x.view(rows, groups, size)
    assert (inside(kept).amin(-1) >= inside(gone).amax(-1)).all()


@pytest.mark.parametrize("sparsity", [0, 0.0, 0.3, 0.5, 1, 1.0])
def test_how_many_go_is_rounded_half_up(sparsity):
    assert masks.count_pruned(sparsity, 0) == 0
    assert masks.count_pruned(sparsity, 10) == round(10 * sparsity)
    assert masks.count_pruned(0.5, 7) == 4 and masks.count_pruned(0.5, 5) == 3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sparsity", [0.0, 0.37, 0.5, 1.0])
def test_every_matrix_of_a_checkpoint_loses_its_own_share(tiny, texts, method, sparsity):
    model = tiny[0]
    new = prune(model, method, sparsity, calibration=texts[:3])
    if sparsity == 0:
        for a, b in zip(model.parameters(), new.parameters()):
            assert torch.equal(a, b)
        return
    found = sparsity_of(new)
    assert len(found) == 7 * model.config.num_layers
    state = hf_tensors(new)
    for name, share in found.items():
        weight = state[f"{name}.weight"]
        wanted = masks.count_pruned(sparsity, weight.numel())
        if method == "wanda":
            wanted = weight.shape[0] * masks.count_pruned(sparsity, weight.shape[1])
        assert int((weight == 0).sum()) == wanted, name
        assert share == wanted / weight.numel()
        assert not torch.signbit(weight[weight == 0]).any()
    untouched = [n for n, p in model.named_parameters() if "norm" in n or "embedding" in n]
    for name in untouched:
        assert torch.equal(dict(new.named_parameters())[name], dict(model.named_parameters())[name])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pattern", ["2:4", "4:8", "1:4"])
def test_a_pattern_holds_in_every_group_and_the_original_is_untouched(tiny, texts, method, pattern):
    model = tiny[0]
    before = {n: p.clone() for n, p in model.named_parameters()}
    new = prune(model, method, pattern=pattern, calibration=texts[:3])
    keep, size = map(int, pattern.split(":"))
    for layer in new.layers.modules():
        if isinstance(layer, nn.Linear):
            groups = layer.weight.reshape(layer.out_features, -1, size)
            assert ((groups != 0).sum(-1) == keep).all()
    assert all(torch.equal(before[n], p) for n, p in model.named_parameters())


@pytest.mark.parametrize("name", zoo.ONE_OF_EACH)
@pytest.mark.parametrize("method", METHODS)
def test_every_family_can_be_pruned(name, method):
    model = zoo.random_model(name, torch.float32)
    generator = torch.Generator().manual_seed(1)
    calibration = [torch.randint(zoo.VOCAB, (n,), generator=generator) for n in (5, 17, 30)]
    new = prune(model, method, 0.5, calibration=calibration)
    assert new(calibration[1]).isfinite().all()
    biases = [n for n, p in model.named_parameters() if n.endswith("bias") or p.dim() == 1]
    for n in biases:
        assert torch.equal(dict(new.named_parameters())[n], dict(model.named_parameters())[n])
    assert all(0.45 < share < 0.56 for share in sparsity_of(new).values())


def test_the_global_scope_compares_all_weights(tiny):
    model = tiny[0]
    new = prune(model, "magnitude", 0.4, scope="global")
    layers = [m for m in model.layers.modules() if isinstance(m, nn.Linear)]
    after = [m for m in new.layers.modules() if isinstance(m, nn.Linear)]
    all_before = torch.cat([m.weight.abs().flatten() for m in layers])
    all_after = torch.cat([m.weight.flatten() for m in after])
    assert int((all_after == 0).sum()) == masks.count_pruned(0.4, all_before.numel())
    assert all_before[all_after == 0].max() <= all_before[all_after != 0].min()
    shares = [float((m.weight == 0).double().mean()) for m in after]
    assert max(shares) - min(shares) > 0.05  # layers lose different shares


@pytest.mark.parametrize("seed", [0, 1])
def test_the_toy_layer_keeps_its_bars(seed):
    weight, inputs = toy(seed)
    norm_K = inputs.square_K.sqrt()
    count = masks.count_pruned(0.5, weight.numel())
    magnitude = weight * masks.lowest(weight.abs(), count)
    wanda = weight * masks.lowest_of_rows(weight.abs().double() * norm_K, weight.shape[1] // 2)
    mended = sparsegpt(weight, inputs.hessian_KK, 0.5)
    found = [error(weight, w, inputs) for w in (magnitude, wanda, mended)]
    assert 0.03 < found[0] < 0.12
    assert found[2] < found[1] < 0.3 * found[0]
    groups = lambda s: masks.lowest_of_groups(s, (2, 4))
    magnitude, wanda = weight * groups(weight.abs()), weight * groups(weight.abs() * norm_K)
    mended = sparsegpt(weight, inputs.hessian_KK, pattern=(2, 4))
    found = [error(weight, w, inputs) for w in (magnitude, wanda.float(), mended)]
    assert found[2] < found[1] < 0.3 * found[0]


def test_mending_is_what_makes_sparsegpt_better():
    weight, inputs = toy()
    mended = sparsegpt(weight, inputs.hessian_KK, 0.5)
    masked = weight * (mended != 0)
    assert error(weight, mended, inputs) < 0.9 * error(weight, masked, inputs)


def test_sparsegpt_by_hand():
    """Two inputs that are always equal: what one loses, the other takes over whole."""
    hessian = torch.tensor([[1.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    mended = sparsegpt(torch.tensor([[1.0, 3.0]]), hessian, 0.5, damp=1e-6)
    assert mended[0, 0] == 0 and abs(float(mended[0, 1]) - 4) < 1e-3


def test_dead_columns_go_first_and_break_nothing():
    weight, inputs = toy()
    dead = [3, 40, 41, 200]
    hessian = inputs.hessian_KK.clone()
    hessian[dead], hessian[:, dead] = 0, 0
    weight[:, dead] = 50.0  # by size they would stay
    new = sparsegpt(weight, hessian, 0.5)
    assert new.isfinite().all() and (new[:, dead] == 0).all()
    assert int((new == 0).sum()) == weight.numel() // 2


def test_too_little_text_is_no_reason_to_fail():
    weight, _ = toy()
    x = torch.randn(3, 512, dtype=torch.float64)  # 3 tokens, 512 columns
    new = sparsegpt(weight, x.T @ x, 0.5)
    assert new.isfinite().all() and int((new == 0).sum()) == weight.numel() // 2


def test_wanda_drops_what_meets_small_inputs(tiny, texts):
    """By hand on one layer: |w| * |x|, row by row."""
    model, found = tiny[0], {}

    def look(number, block, inputs):
        if number == 0:
            found.update(inputs)

    from minillm.compress.calibrate import check_texts, walk

    walk(model, check_texts(model, texts), look)
    new = prune(model, "wanda", 0.25, calibration=texts)
    weight = model.layers[0].mlp.down.weight
    scores = weight.abs().double() * found["mlp.down"].square_K.sqrt()
    count = weight.shape[1] // 4
    border = scores.sort(dim=1).values[:, count - 1 : count]
    assert torch.equal(new.layers[0].mlp.down.weight == 0, scores <= border)


def test_later_layers_are_judged_on_what_pruned_layers_give(tiny, texts, monkeypatch):
    seen = []
    real = sparsegpt.__globals__["inverse_factor"]
    monkeypatch.setattr(
        "minillm.compress.prune.inverse_factor", lambda h: seen.append(h.clone()) or real(h)
    )
    prune(tiny[0], "sparsegpt", 0.0, calibration=texts[:2])
    whole, seen = seen, []
    monkeypatch.setattr(
        "minillm.compress.prune.inverse_factor", lambda h: seen.append(h.clone()) or real(h)
    )
    prune(tiny[0], "sparsegpt", 0.6, calibration=texts[:2])
    assert torch.equal(whole[0], seen[0])  # before anything was pruned
    assert not torch.allclose(whole[-1], seen[-1], rtol=1e-3)


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(method="random"), "method must be one of magnitude"),
        (dict(sparsity=1.5), "from 0 to 1, got 1.5"),
        (dict(sparsity=-0.1), "from 0 to 1"),
        (dict(sparsity=float("nan")), "from 0 to 1"),
        (dict(sparsity="half"), "from 0 to 1"),
        (dict(sparsity=True), "from 0 to 1"),
        (dict(pattern="4:2"), 'pattern is "N:M"'),
        (dict(pattern="0:4"), 'pattern is "N:M"'),
        (dict(pattern=24), 'pattern is "N:M"'),
        (dict(pattern="2:4", sparsity=0.3), "drops 50%: leave sparsity out"),
        (dict(pattern="3:7"), "7 does not divide the input width of layers.0.attention.qkv"),
        (dict(scope="model"), "scope must be"),
        (dict(scope="global", method="wanda"), "for magnitude only"),
        (dict(method="wanda"), "give calibration="),
        (dict(method="sparsegpt", calibration=[]), "at least one text"),
    ],
)
def test_what_does_not_fit_is_one_clear_error(tiny, options, words):
    with pytest.raises(ValueError, match=words):
        prune(tiny[0], **options)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("options", [{}, dict(scope="global"), dict(pattern="2:4")], ids=str)
def test_a_weight_without_a_size_is_refused_by_name(options, bad):
    """NaN is neither above nor below any border: counts would be wrong without a word."""
    model = zoo.random_model("llama 5:1", torch.float32)
    model.layers[1].attention.o.weight[2, 3] = bad
    with pytest.raises(ValueError, match=r"layers\.1\.attention\.o\.weight holds inf or NaN"):
        prune(model, **options)


@pytest.mark.parametrize("columns", [9, 10])
def test_widths_that_the_pattern_does_not_divide_are_refused_by_name(columns):
    with pytest.raises(ValueError, match=f"multiple of 4 columns, got {columns}"):
        sparse.pack_24(torch.zeros(3, columns))


def test_a_packed_model_is_refused(tiny):
    with pytest.raises(ValueError, match="quantised already"):
        prune(quantize(tiny[0], "int8"))
    stored = sparse.sparsify(prune(tiny[0], pattern="2:4"))
    for call in (prune, quantize, minillm.shrink):
        with pytest.raises(ValueError, match="stored sparse"):
            call(stored)


@pytest.mark.parametrize(
    "options",
    [
        dict(scheme="int8"),
        dict(scheme="int4"),
        dict(scheme="int4", symmetric=False),
        dict(scheme="nf4"),
        dict(scheme="w8a8"),
        dict(scheme="int4", method="gptq"),
        dict(scheme="int4", method="gptq", act_order=False, symmetric=False),
        dict(scheme="int4", method="awq"),
    ],
)
def test_zeros_stay_zeros_when_quantised(tiny, texts, options):
    pruned = prune(tiny[0], "wanda", pattern="2:4", calibration=texts)
    calibration = texts if options.get("method") else None
    new = quantize(pruned, calibration=calibration, **options)
    for a, b in zip(pruned.layers.modules(), new.layers.modules()):
        if isinstance(b, QuantLinear):
            assert (b.dequantize()[a.weight == 0] == 0).all()


def test_gptq_makes_up_for_a_zero_that_it_may_not_move():
    weight, inputs = toy()
    weight = weight * masks.lowest_of_groups(weight.abs(), (2, 4))
    free = gptq(weight + 1e-12, inputs.hessian_KK, 4, 128, act_order=True)
    kept = gptq(weight, inputs.hessian_KK, 4, 128, act_order=True).dequantize()
    assert (kept[weight == 0] == 0).all() and (free.dequantize()[weight == 0] != 0).any()


def test_zeros_survive_saving_and_loading(tiny, tmp_path):
    model, tokenizer = tiny
    pruned = prune(model, pattern="2:4")
    minillm.save(pruned, tokenizer, tmp_path / "pruned")
    back, _ = minillm.load(str(tmp_path / "pruned"))
    for a, b in zip(pruned.parameters(), back.parameters()):
        assert torch.equal(a, b)
