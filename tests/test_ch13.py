"""Chapter 13: references agree with the package, and the record with the shipped model."""

import copy
import itertools
import random
from dataclasses import replace

import pytest
import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, normal
from minillm.cache.simple import NoCache, PackedRows
from minillm.compress import recover
from minillm.compress.evaluate import tasks
from minillm.compress.importance import block_influence, importance
from minillm.compress.shrink import Kept, choose, cut
from minillm.config import ModelConfig, RopeConfig
from minillm.load import load
from minillm.model import Transformer
from minillm.weights import empty_model
from tools import record_layers as record

CONFIG = ModelConfig(
    family="llama", vocab_size=50, width=22, mlp_width=26, num_layers=4, num_heads=12,
    num_kv_heads=4, head_size=4, max_len=64, ropes=(RopeConfig(), RopeConfig(theta=30.0)),
    rope_of_layer=(0, 1, 1, 0),
)  # fmt: skip


def small_model(seed: str, config=CONFIG) -> Transformer:
    """Random weights, large enough that every layer turns the stream."""
    model, rng = Transformer(config).double(), random.Random(seed)
    for parameter in model.parameters():
        size = 1.5 * parameter.shape[-1] ** -0.5 if parameter.dim() == 2 else 1.0
        parameter.data = normal(rng, *parameter.shape, dtype=torch.float64, scale=size)
    return model


def texts(seed: str) -> list[list[int]]:
    rng = random.Random(seed)
    return [[rng.randrange(50) for _ in range(length)] for length in (9, 1, 24)]


@torch.no_grad()
def what_enters(model, part: str, calibration):
    """Inputs of one part of every layer on all texts, [T, D] each."""
    seen = [[] for _ in model.layers]
    for number, block in enumerate(model.layers):
        look = lambda _, given, rows=seen[number]: rows.append(given[0])
        block.get_submodule(part).register_forward_pre_hook(look)
    for text in calibration:
        model(torch.tensor(text))
    return [torch.cat(rows) for rows in seen]


@pytest.mark.parametrize("stay", [1, 9, 25])
def test_the_channels_that_stay_are_the_packages(stay):
    """13.1 in every layer of a model, on what reaches its MLPs."""
    model, given = small_model(f"c{stay}"), texts("channels")
    new = cut(model, choose(model, channels=stay, calibration=given))
    for block, small, x_TD in zip(
        model.layers, new.layers, what_enters(copy.deepcopy(model), "mlp", given)
    ):
        gate_FD, up_FD = block.mlp.gate_up.weight.chunk(2)
        want = spec.reference("13.1")(gate_FD, up_FD, block.mlp.down.weight, x_TD, stay)
        assert torch.equal(torch.cat(want[:2]), small.mlp.gate_up.weight)
        assert torch.equal(want[2], small.mlp.down.weight)


def heads_by_the_exercise(block, scores, heads, kv_heads):
    c = CONFIG
    rows = [n * c.head_size for n in (c.num_heads, c.num_kv_heads, c.num_kv_heads)]
    parts = (*block.attention.qkv.weight.split(rows), block.attention.o.weight)
    return spec.reference("13.2")(*parts, scores, c.head_size, heads, kv_heads)


@pytest.mark.parametrize("heads, kv_heads", [(4, 4), (8, 4), (9, 3), (2, 1), (4, 2), (12, 4)])
def test_the_heads_that_stay_are_the_packages(heads, kv_heads):
    """13.2 with the package's importances: the same rows and columns of every layer."""
    model, given = small_model(f"h{heads}"), texts("heads")
    new = cut(model, choose(model, heads=heads, kv_heads=kv_heads, calibration=given))
    assert (new.config.num_heads, new.config.num_kv_heads) == (heads, kv_heads)
    for block, small, found in zip(model.layers, new.layers, importance(model, given)):
        q, k, v, o = heads_by_the_exercise(block, found.heads_H.tolist(), heads, kv_heads)
        assert torch.equal(torch.cat((q, k, v)), small.attention.qkv.weight)
        assert torch.equal(o, small.attention.o.weight)


def test_what_the_package_refuses_the_exercise_refuses():
    """13.2 on every pair of numbers, also impossible ones."""
    model, refused = small_model("refused"), 0
    for heads, kv_heads in itertools.product(range(-1, 14), range(-1, 6)):
        outcomes = []
        for attempt in (
            lambda h, g: choose(model, heads=h, kv_heads=g),
            lambda h, g: heads_by_the_exercise(model.layers[0], [1.0] * 12, h, g),
        ):
            try:
                attempt(heads, kv_heads)
                outcomes.append("kept")
            except ValueError:
                outcomes.append("refused")
        assert outcomes[0] == outcomes[1], (heads, kv_heads, outcomes)
        refused += outcomes[0] == "refused"
    assert refused == 15 * 7 - 4 * 3  # of 4 KV heads with up to 3 query heads each


@torch.no_grad()
def test_the_influence_is_the_packages():
    """13.3 on the blocks of a model."""
    model, given = small_model("influence"), texts("influence")
    c, memory = model.config, NoCache(model.config)

    def layer(block):
        def run(x_TD):
            ropes = model.rope_tables(torch.arange(len(x_TD)), torch.float64)
            return block(x_TD, ropes[c.rope_of_layer[block.layer]], memory)

        return run

    streams = [model.embedding(torch.tensor(text)) for text in given]
    got = spec.reference("13.3")([layer(block) for block in model.layers], streams)
    assert got == pytest.approx(block_influence(model, given), rel=1e-9)
    assert min(got) > 0.01


@pytest.mark.parametrize("mix, temperature", [(0.7, 1.0), (0.3, 2.5), (1.0, 4.0), (0.0, 3.0)])
def test_the_loss_is_that_of_recovery(mix, temperature):
    """13.4 against what finetune() minimises, value and gradient."""
    student, teacher = small_model("student").float(), small_model("teacher").float()
    rng = random.Random("batch")
    tokens_BL = torch.tensor([[rng.randrange(50) for _ in range(7)] for _ in range(3)])
    right_BL = torch.tensor([[rng.randrange(50) for _ in range(7)] for _ in range(3)])
    wanted_BL = torch.tensor([[rng.random() < 0.6 for _ in range(7)] for _ in range(3)])
    config = recover.RecoverConfig(distill=mix, temperature=temperature)
    batch = (tokens_BL, right_BL, wanted_BL.float())
    want = recover.loss_of(student, teacher, batch, config)
    memory = PackedRows(CONFIG, 3)
    logits = [m(tokens_BL.flatten(), memory.positions(21), memory) for m in (student, teacher)]
    got = spec.reference("13.4")(
        logits[0], logits[1].detach(), right_BL.flatten(), wanted_BL.flatten(), temperature, mix
    )
    torch.testing.assert_close(got, want)
    weight = student.layers[0].mlp.down.weight
    grads = [torch.autograd.grad(loss, weight)[0] for loss in (got, want)]
    torch.testing.assert_close(*grads, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("layers, gone", [([0, 2, 3], 1), ([1], 0), ([2, 3], 2)])
def test_the_mended_shrink_is_the_packages(layers, gone):
    """13.6: the same weights, numbers and config as cut()."""
    model = small_model("hunt")
    heads = tuple(h for h in range(12) if h % 3 != gone)
    every = lambda numbers: (tuple(numbers),) * len(layers)
    want = cut(model, Kept(tuple(layers), every(heads), every(range(4)), every(range(26))))
    got = spec.reference("13.6")(model, layers, gone)
    assert got.config == want.config
    assert (
        [b.layer for b in got.layers] == [b.layer for b in want.layers] == list(range(len(layers)))
    )
    for (name, one), (other, two) in zip(got.named_parameters(), want.named_parameters()):
        assert name == other and torch.equal(one, two), name


def test_the_record_is_of_the_shipped_model():
    """After a retraining: python -m tools.record_layers, then the fresh text of 13.5."""
    found = spec.check_of("13.5").RECORD
    assert found["weights_sha256"] == record.weights_sha(), record.COMMAND
    assert found["count"] == record.COUNT
    assert [r["layer"] for r in found["rows"]] == [None, *range(load("tiny")[0].config.num_layers)]


@pytest.mark.parametrize("layer", [0, 3])
def test_the_record_can_be_measured_again(layer):
    """Another machine sums in another order: a few items in 200 may turn over."""
    model, tokenizer = load("tiny", dtype="fp32")
    row = next(r for r in spec.check_of("13.5").RECORD["rows"] if r["layer"] == layer)
    got = tasks(record.without(model, layer), tokenizer, record.COUNT)
    assert got == pytest.approx(row["tasks"], abs=0.03)


def test_which_layer_hurts_most_has_room_for_noise():
    """13.5: 1000 answers a layer, so a share is known to about 1.6 points."""
    case = spec.check_of("13.5").make(random.Random(1))
    worst, second, *_ = sorted(case["right"].values())
    assert second - worst > 0.1


def every_case() -> list[dict]:
    check = spec.check_of("13.5")
    return [check.make(random.Random(1)) | sizes for sizes in check.SHRUNK]


@pytest.mark.parametrize("case", every_case(), ids=lambda c: f"{c['n1']}-{c['n2']}-{c['f2']}")
def test_the_speedup_is_the_ratio_of_real_weights(case):
    """13.5 against the bytes of both models; norms count less than a thousandth."""
    check = spec.check_of("13.5")
    before = replace(
        CONFIG, vocab_size=check.VOCABULARY, width=check.WIDTH, head_size=check.HEAD_SIZE,
        num_layers=case["n1"], num_heads=case["h1"], num_kv_heads=case["g1"],
        mlp_width=case["f1"], rope_of_layer=(), windows=(), tie_embeddings=True,
    )  # fmt: skip
    after = replace(
        before, num_layers=case["n2"], num_heads=case["h2"], num_kv_heads=case["g2"],
        mlp_width=case["f2"], rope_of_layer=(), windows=(),
    )  # fmt: skip
    one, two = (empty_model(config).num_parameters() for config in (before, after))
    want = spec.reference("13.5")(**case)
    assert want["speedup"] == pytest.approx(one / two, rel=1e-3)
    outside = lambda x: abs(x - want["speedup"]) > 1.2 * check.EXERCISE.band * want["speedup"]
    for name, answer in spec.variants("13.5", "wrong").items():
        slip = answer(**case)
        assert (slip["layer"] == want["layer"]) != (slip["speedup"] == want["speedup"]), name
        assert slip["speedup"] == want["speedup"] or outside(slip["speedup"]), name
        with pytest.raises(Wrong) as caught:
            check.judge(case, slip)
        assert caught.value.id == ("13.5.slip" if outside(slip["speedup"]) else "13.5.layer")


def test_the_tracked_file_asks_about_the_record():
    text = spec.fresh_text("13.5", "")
    assert "{{" not in text and text.endswith("answer = None\n")
    kept = spec.learner_file("13.5").read_text("utf-8")
    if kept.endswith("answer = None\n"):  # nobody has answered it here
        assert kept == text


def test_a_loss_is_returned_with_its_graph():
    """13.4: who calls backward() inside has the gradient right, and a loss nobody can add to."""
    reference, case = spec.reference("13.4"), spec.cases("13.4", "graph", None)[0]

    def backward_inside(student_TV, *given):
        loss = reference(student_TV, *given)
        loss.backward()
        return loss.detach()

    check = spec.check_of("13.4")
    check.judge(case, check.drive(reference, case))
    with pytest.raises(Wrong, match="no gradient reaches the student"):
        check.judge(case, check.drive(backward_inside, case))
