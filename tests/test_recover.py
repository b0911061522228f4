"""Recovery training: it lowers the loss, keeps zeros, resumes exactly, and refuses what is odd."""

import math

import pytest
import torch
import torch.nn.functional as F
import zoo
from torch import nn

import minillm
from minillm.compress.calibrate import own_texts
from minillm.compress.prune import prune
from minillm.compress.quant import quantize
from minillm.compress.recover import RecoverConfig, finetune, loss_of, rate
from minillm.compress.shrink import shrink
from minillm.compress.tiny_shrunk import card

SHORT = dict(tokens_per_step=256, row_length=64, check_every=2, warmup=2)


class Silent:
    """A progress bar that only counts."""

    def __init__(self, *_, initial=0, total=0, **__):
        self.first, self.total, self.done = initial, total, 0

    def update(self, n):
        self.done += n

    def set_postfix(self, **_):
        pass

    def close(self):
        pass


@pytest.fixture(scope="module")
def tiny():
    return minillm.load("tiny")


@pytest.fixture(scope="module")
def texts(tiny):
    return own_texts(tiny[1], 40)


def loss_on(model, texts):
    from minillm.compress.evaluate import perplexity

    return math.log(perplexity(model, torch.cat([torch.tensor(t) for t in texts])[:800], 256))


def test_training_lowers_the_loss_and_leaves_both_models_alone(tiny, texts):
    model, _ = tiny
    small = shrink(model, layers=5, calibration=texts[:8])
    before = [p.clone() for m in (model, small) for p in m.parameters()]
    new = finetune(small, texts=texts, teacher=model, steps=8, progress=Silent, **SHORT)
    after = [p for m in (model, small) for p in m.parameters()]
    assert all(torch.equal(a, b) for a, b in zip(before, after))
    assert loss_on(new, texts) < loss_on(small, texts) - 0.1
    assert new.config == small.config and not new.training
    assert not any(p.requires_grad for p in new.parameters())
    with torch.inference_mode():
        assert minillm.generate(
            new, texts[0][:8], minillm.SamplingParams(max_tokens=3, ignore_eos=True)
        )


def test_the_corpus_is_the_text_where_a_tokenizer_is_given(tiny):
    model, tokenizer = tiny
    small = shrink(model, channels=300)
    settings = SHORT | dict(row_length=256, tokens_per_step=512)
    new = finetune(small, tokenizer, teacher=model, steps=4, progress=Silent, **settings)
    assert not torch.equal(new.embedding.weight, small.embedding.weight)


@pytest.mark.parametrize("options", [dict(pattern="2:4"), dict(sparsity=0.7)])
def test_zeros_are_kept(tiny, texts, options):
    model, _ = tiny
    pruned = prune(model, **options)
    new = finetune(pruned, texts=texts, teacher=model, steps=3, progress=Silent, **SHORT)
    changed = 0
    for a, b in zip(pruned.layers.modules(), new.layers.modules()):
        if isinstance(a, nn.Linear):
            assert torch.equal(a.weight == 0, b.weight == 0)
            assert not torch.signbit(b.weight[b.weight == 0]).any()
            changed += int((a.weight != b.weight).sum())
    assert changed > 0
    free = finetune(
        pruned, texts=texts, steps=3, keep_zeros=False, progress=Silent, **SHORT
    )  # without: they fill up
    filled = [m.weight for m in free.layers.modules() if isinstance(m, nn.Linear)]
    count = sum(w.numel() for w in filled)
    assert sum(int((w == 0).sum()) for w in filled) < count / 10


def test_a_stopped_run_goes_on_and_ends_the_same(tiny, texts, tmp_path):
    model, _ = tiny
    small = shrink(model, layers=4)
    train = lambda folder, bar: finetune(
        small, texts=texts, teacher=model, steps=6, folder=folder, progress=bar, **SHORT
    )
    whole = train(None, Silent)

    class Stops(Silent):
        def update(self, n):
            super().update(n)
            if self.done == 5:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run", Stops)
    bars = []

    class Remembers(Silent):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            bars.append(self)

    resumed = train(tmp_path / "run", Remembers)
    assert (bars[0].first, bars[0].done) == (4, 2)  # the last look was after step 4
    for a, b in zip(whole.parameters(), resumed.parameters()):
        assert torch.equal(a, b)
    finished = train(tmp_path / "run", Silent)  # nothing is left to do
    assert torch.equal(finished.embedding.weight, whole.embedding.weight)


def test_a_folder_of_another_run_is_refused(tiny, texts, tmp_path):
    model, _ = tiny
    run = lambda m, **more: finetune(
        m, texts=texts, steps=2, folder=tmp_path / "run", progress=Silent, **SHORT, **more
    )
    run(shrink(model, layers=4))
    for other, more in (
        (shrink(model, layers=3), {}),
        (shrink(model, layers=4), dict(seed=9)),
        (shrink(model, layers=4), dict(teacher=model)),
    ):
        with pytest.raises(ValueError, match="another model or of other settings"):
            run(other, **more)


def test_patience_ends_a_run_and_the_best_weights_come_back(tiny, texts):
    model, _ = tiny
    bars = []

    class Remembers(Silent):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            bars.append(self)

    wild = dict(matrix_lr=5.0, other_lr=5.0)  # it can only get worse
    new = finetune(model, texts=texts, steps=40, patience=2, progress=Remembers, **SHORT, **wild)
    assert bars[0].done == 4  # two looks, two steps apart
    for a, b in zip(model.parameters(), new.parameters()):
        assert torch.equal(a, b)  # as good as it was


def test_the_two_losses_by_hand():
    """One token, uniform student: -log p of the target, and the teacher's distance from uniform."""
    student = zoo.random_model("llama 5:1", torch.float64, seed=0)
    teacher = zoo.random_model("llama 5:1", torch.float64, seed=1)
    tokens = zoo.random_tokens(8).view(2, 4)
    targets, weights = zoo.random_tokens(8, seed=2).view(2, 4), torch.zeros(2, 4)
    weights[0, 1], weights[1, 3] = 1.0, 3.0
    loss = lambda t, **o: float(loss_of(student, t, (tokens, targets, weights), RecoverConfig(**o)))
    logits = [torch.stack([m(row) for row in tokens]).double() for m in (student, teacher)]
    picked = [torch.stack((x[0, 1], x[1, 3])) for x in logits]
    plain = F.cross_entropy(
        picked[0], torch.stack((targets[0, 1], targets[1, 3])), reduction="none"
    )
    expected = float((plain * torch.tensor([0.25, 0.75])).sum())
    assert loss(None) == pytest.approx(expected, rel=1e-5)
    assert loss(teacher, distill=0.0) == pytest.approx(expected, rel=1e-5)
    for heat in (1.0, 3.0):
        own, wanted = [(x / heat).log_softmax(-1) for x in picked]
        kl = (wanted.exp() * (wanted - own)).sum(-1) * heat**2
        far = float((kl * torch.tensor([0.25, 0.75])).sum())
        assert loss(teacher, distill=1.0, temperature=heat) == pytest.approx(far, rel=1e-5)
        mixed = 0.4 * expected + 0.6 * far
        assert loss(teacher, distill=0.6, temperature=heat) == pytest.approx(mixed, rel=1e-5)
    assert loss(student, distill=1.0) == pytest.approx(0, abs=1e-6)


def test_the_rate_rises_and_ends_at_nothing():
    config = RecoverConfig(steps=100, warmup=10)
    rates = [rate(step, config) for step in range(100)]
    assert rates[0] == 0.1 and max(rates) == rates[9] == 0.91 and rates[-1] == 0.01


@pytest.mark.parametrize("name", ["mistral window", "gemma3"])
def test_models_with_windows_train_on_rows_that_fit(name):
    model = zoo.random_model(name, torch.float32)
    texts = [zoo.random_tokens(60, seed=i) for i in range(4)]
    options = dict(texts=texts, steps=2, tokens_per_step=20, check_every=1, progress=Silent)
    assert finetune(model, row_length=5, **options)
    with pytest.raises(ValueError, match="row_length must be at most [56]"):
        finetune(model, row_length=7, **options)


@pytest.mark.parametrize(
    "options, words",
    [
        (dict(), "say what to train on"),
        (dict(texts=[[1, 2, 3]]), "recovery needs at least 514"),
        (dict(texts=[]), "at least one text"),
        (dict(texts=["Once"]), "encode the texts first"),
        (dict(texts=[[1] * 600], steps=0), "steps must be a whole number from 1, got 0"),
        (dict(texts=[[1] * 600], steps=1.5), "steps must be"),
        (dict(texts=[[1] * 600], check_every=0), "check_every must be"),
        (dict(texts=[[1] * 600], distill=1.1), "distill must be from 0 to 1"),
        (dict(texts=[[1] * 600], temperature=0.0), "temperature above 0"),
        (dict(texts=[[1] * 9000], row_length=2000), "row_length must be at most 1024"),
    ],
)
def test_what_does_not_fit_is_one_clear_error(tiny, options, words):
    with pytest.raises(ValueError, match=words):
        finetune(tiny[0], progress=Silent, **options)


def test_other_vocabularies_and_packed_models_are_refused(tiny, texts):
    model, tokenizer = tiny
    other = zoo.random_model("llama 5:1", torch.float32)
    with pytest.raises(ValueError, match="the same vocabulary"):
        finetune(model, texts=texts, teacher=other, progress=Silent)
    with pytest.raises(ValueError, match="quantised already"):
        finetune(quantize(model, "int8"), texts=texts, progress=Silent)
    with pytest.raises(ValueError, match="say what to train on"):
        finetune(model, tokenizer, texts=texts, progress=Silent)


def test_the_shipped_model_is_what_its_record_says(tiny):
    import json

    from minillm.compress import evaluate
    from minillm.compress.tiny_shrunk import RECORD, REMAINS

    record = json.loads(RECORD.read_text())
    small, tokenizer = minillm.load("tiny-shrunk")
    c = small.config
    assert (c.num_layers, c.num_heads, c.mlp_width) == tuple(REMAINS.values())
    assert small.num_parameters() == record["parameters"]
    share = record["parameters"] / tiny[0].num_parameters()
    assert record["share"] == share and 0.65 < share < 0.72
    judged = record["judged"]
    assert judged["tiny"]["mean"] - judged["recovered"]["mean"] < 0.05  # the bar
    assert judged["shrunk"]["mean"] < judged["recovered"]["mean"]
    assert record["seconds"] < 15 * 60
    found = evaluate.tasks(small, tokenizer, 100)  # other items than the record's, mostly
    assert abs(sum(found.values()) / 5 - judged["recovered"]["mean"]) < 0.03
    assert (RECORD.with_suffix("") / "README.md").read_text() == card(record)
