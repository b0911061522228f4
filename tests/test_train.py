"""The training loop: what a step learns from, that it learns, and that a kill loses nothing."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest
import torch

from minillm import corpus, train
from minillm.bpe import train_tokenizer
from minillm.config import ModelConfig
from minillm.model import Transformer
from minillm.train import TINY, TrainConfig

SMALL = ModelConfig(
    family="llama", vocab_size=1024, width=32, mlp_width=48, num_layers=2, num_heads=4,
    num_kv_heads=2, head_size=8, max_len=256, tie_embeddings=True, bos_token_id=0,
    eos_token_ids=(0,),
)  # fmt: skip
SHORT = TrainConfig(
    steps=12, tokens_per_step=240, row_length=120, long_row_length=240, long_every=4, warmup=3,
    compute="fp32",
)  # fmt: skip


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(documents=1500)


class Quiet:
    """A progress bar that shows nothing and can run something at a step."""

    def __init__(self, at=None, action=None):
        self.at, self.action, self.started = at, action, None

    def __call__(self, initial, total, **_):
        self.started = self.step = initial
        return self

    def update(self, count):
        self.step += count
        if self.step == self.at:
            self.action()

    def set_postfix(self, **_):
        pass


def run(config, tokenizer, folder, progress=None, save_every=5):
    return train.train(config, tokenizer, folder, progress or Quiet(), SMALL, save_every)


def same(first, second) -> bool:
    pairs = zip(first.state_dict().items(), second.state_dict().items())
    return all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)


def test_rows_hold_whole_documents_in_order(tokenizer):
    """Rebuilt document by document: what is in a row, what it weighs, and that none is cut."""
    config, length = dataclasses.replace(SHORT, tale_weight=0.25), 120
    tokens, weights = train.make_rows(tokenizer, config, length, "name")
    assert tokens.shape == weights.shape == (train.SHARD_ROWS, length + 1)
    items = corpus.training_items("name")
    item, tales = next(items), 0
    ids = lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    for row, weight in zip(tokens.tolist(), weights.tolist()):
        want, heavy = [0], [0.0]
        while True:
            prompt, answer = ids(item.prompt), ids(item.answer)
            document = [*prompt, *answer, 0]
            if len(want) + len(document) > length + 1:
                break
            share = 0.25 if item.task == "tales" else 1.0
            want += document
            heavy += [0.0] * len(prompt) + [share] * (len(answer) + 1)
            tales += item.task == "tales"
            item = next(items)
        rest = length + 1 - len(want)
        assert row == want + [0] * rest and weight == heavy + [0.0] * rest
        assert len(want) > 1
    assert tales > 50


def test_a_document_longer_than_a_row_is_an_error_not_an_empty_row(tokenizer):
    with pytest.raises(ValueError, match="longer than a row of 40"):
        train.make_rows(tokenizer, SHORT, 40, "name")


def test_batches_are_shifted_by_one_and_depend_on_the_step_only(tokenizer):
    every = list(train.batches(tokenizer, SHORT, 0))
    assert len(every) == 12
    for tokens_BL, targets_BL, weights_BL in every:
        assert torch.equal(tokens_BL[:, 1:], targets_BL[:, :-1])
        assert bool((weights_BL > 0).any())
        ends = (targets_BL == 0) & (weights_BL > 0)  # the end after an answer is learned
        assert bool(ends.any()) and not bool((weights_BL[targets_BL != 0] > 1).any())
    assert [tuple(b[0].shape) for b in every] == ([(2, 120)] * 3 + [(1, 240)]) * 3
    for start in (1, 8, 9, 11):
        for got, want in zip(train.batches(tokenizer, SHORT, start), every[start:], strict=True):
            assert all(torch.equal(g, w) for g, w in zip(got, want))


def test_no_row_is_used_twice_and_none_is_left_out(tokenizer):
    """Short and long steps take turns; each goes through the rows of its own length in order."""
    config = dataclasses.replace(SHORT, steps=11, tokens_per_step=240 * 64)
    every = [b[0] for b in train.batches(tokenizer, config, 0)]
    for length, count, turns in ((120, 128, (0, 1, 2, 4, 5, 6, 8, 9, 10)), (240, 64, (3, 7))):
        got = torch.cat([every[turn] for turn in turns])
        assert len(got) == count * len(turns)
        shards = range(-(-len(got) // train.SHARD_ROWS))
        rows = [train.make_rows(tokenizer, config, length, f"0/{length}/{n}")[0] for n in shards]
        assert torch.equal(got, torch.cat(rows)[: len(got), :-1])


def test_batches_go_on_into_the_next_shard(tokenizer):
    config = dataclasses.replace(SHORT, steps=8, tokens_per_step=120 * 64, long_every=100)
    every = [b[0] for b in train.batches(tokenizer, config, 0)]
    first, second = (
        train.make_rows(tokenizer, config, 120, f"0/120/{shard}")[0][:, :-1] for shard in (0, 1)
    )
    assert torch.equal(torch.cat(every[:4]), first) and torch.equal(torch.cat(every[4:]), second)
    assert not torch.equal(first, second)


@torch.no_grad()
def test_the_loss_by_hand(tokenizer):
    """Row by row, token by token, over all logits: prompts must not count."""
    model = Transformer(SMALL)
    train.init_weights(model, 1)
    batch = next(train.batches(tokenizer, SHORT, 0))
    total, mass = 0.0, 0.0
    for tokens, targets, weights in zip(*batch):
        logs = model(tokens).double().log_softmax(-1)
        for place, (target, weight) in enumerate(zip(targets.tolist(), weights.tolist())):
            total, mass = total - weight * float(logs[place, target]), mass + weight
    assert float(train.loss_of(model, *batch)) == pytest.approx(total / mass, rel=1e-5)


def test_the_learning_rate_warms_up_stays_and_falls_to_nothing():
    config = TrainConfig(steps=1000, warmup=100, decay_share=0.5)
    rates = [train.rate(s, config) for s in range(1001)]
    assert rates[0] == 0.01 and rates[49] == 0.5 and rates[99] == 1.0
    assert set(rates[100:501]) == {1.0}
    assert rates[750] == 0.5 and rates[999] == 0.002 and rates[1000] == 0.0


def test_initial_weights_are_seeded_and_small_where_they_write_to_the_stream():
    models = [Transformer(SMALL) for _ in range(3)]
    for model, seed in zip(models, (1, 1, 2)):
        train.init_weights(model, seed)
    assert same(models[0], models[1]) and not same(models[0], models[2])
    layer = models[0].layers[0]
    assert float(layer.attention.qkv.weight.detach().std()) == pytest.approx(0.02, rel=0.1)
    for writes in (layer.attention.o, layer.mlp.down):
        assert float(writes.weight.detach().std()) == pytest.approx(
            0.01, rel=0.1
        )  # 0.02 / sqrt(2 x 2)
    assert bool((models[0].norm.weight == 1).all())


def test_every_parameter_has_one_optimizer():
    model = Transformer(SMALL)
    groups = [g["params"] for o in train.make_optimizers(model, SHORT) for g in o.param_groups]
    ids = [id(p) for p in itertools.chain(*groups)]
    assert sorted(ids) == sorted(id(p) for p in model.parameters())
    assert all(p.dim() == 2 and p.shape[0] != 1024 for p in groups[0])  # Muon: no embedding


def test_the_loss_falls(tokenizer, tmp_path):
    config = dataclasses.replace(SHORT, steps=60, tokens_per_step=960, warmup=5)
    others = train.batches(tokenizer, dataclasses.replace(config, seed=77), 0)
    unseen = list(itertools.islice(others, 4))

    @torch.no_grad()
    def mean(model):
        return sum(float(train.loss_of(model, *b)) for b in unseen) / len(unseen)

    fresh = Transformer(SMALL)
    train.init_weights(fresh, config.seed)
    before, after = mean(fresh), mean(run(config, tokenizer, tmp_path, save_every=60))
    assert before > 6.5 and after < before - 2.0  # ln 1024 = 6.9
    lines = [json.loads(x) for x in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [x["step"] for x in lines] == [60] and lines[0]["loss"] < before


CHILD = """
    import os, signal, sys
    sys.path.insert(0, {here!r})
    from pathlib import Path
    import torch
    torch.set_num_threads({threads})
    import test_train
    kill = lambda: os.kill(os.getpid(), signal.{signal})
    tokenizer = test_train.train_tokenizer(documents=1500)
    bar = test_train.Quiet(at=8, action=kill)
    test_train.run(test_train.SHORT, tokenizer, Path(sys.argv[1]), bar)
"""


def test_a_killed_run_goes_on_and_ends_with_the_same_weights(tokenizer, tmp_path):
    whole = run(SHORT, tokenizer, tmp_path / "whole")
    name = "SIGKILL" if hasattr(signal, "SIGKILL") else "SIGTERM"
    code = CHILD.format(
        here=os.path.dirname(__file__), signal=name, threads=torch.get_num_threads()
    )
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "killed")],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert child.returncode == -getattr(signal, name), child.stderr
    (tmp_path / "killed" / "checkpoint.tmp").write_bytes(b"half a file")  # killed while saving
    bar = Quiet()
    resumed = run(SHORT, tokenizer, tmp_path / "killed", bar)
    assert bar.started == 5 and bar.step == 12  # the checkpoint of step 5; 6 to 8 are done again
    assert same(resumed, whole)
    steps = [json.loads(x)["step"] for x in open(tmp_path / "killed" / "log.jsonl")]
    assert steps == [5, 10, 12]


@pytest.mark.parametrize("compute", ["fp32", "bf16"])
def test_an_interrupted_run_in_either_precision_ends_the_same(tokenizer, tmp_path, compute):
    config = dataclasses.replace(SHORT, compute=compute, fp32_share=0.2)
    whole = run(config, tokenizer, tmp_path / "whole")

    def interrupt():
        raise KeyboardInterrupt

    for step in (3, 7, 11):  # before the first checkpoint, and twice more
        with pytest.raises(KeyboardInterrupt):
            run(config, tokenizer, tmp_path / "torn", Quiet(step, interrupt), save_every=2)
    assert same(run(config, tokenizer, tmp_path / "torn", save_every=2), whole)
    assert whole.embedding.weight.dtype == torch.float32  # the masters, whatever computed


def test_a_save_that_fails_leaves_the_old_checkpoint(tokenizer, tmp_path, monkeypatch):
    run(SHORT, tokenizer, tmp_path, save_every=12)
    before = (tmp_path / "checkpoint.pt").read_bytes()

    def half(state, file):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(torch, "save", half)
    model = Transformer(SMALL)
    with pytest.raises(OSError, match="disk full"):
        train.save_checkpoint(tmp_path, model, [], SHORT, 1, 0.0, 0.0)
    assert (tmp_path / "checkpoint.pt").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint.pt", "log.jsonl"]


def test_a_finished_run_is_not_trained_again(tokenizer, tmp_path):
    first, bar = run(SHORT, tokenizer, tmp_path), Quiet()
    assert same(run(SHORT, tokenizer, tmp_path, bar), first)
    assert bar.started == bar.step == 12


def test_other_settings_are_refused_with_advice(tokenizer, tmp_path):
    run(SHORT, tokenizer, tmp_path)
    with pytest.raises(SystemExit, match="other settings.*another --out"):
        run(dataclasses.replace(SHORT, seed=1), tokenizer, tmp_path)


def test_the_default_model_has_the_promised_shape():
    """DESIGN: at most 10M parameters and 20 MB in fp16, widths of 128, vocabulary of 16."""
    model = Transformer(TINY)
    assert model.num_parameters() <= 10e6 and 2 * model.num_parameters() <= 20e6
    heads = TINY.num_heads * TINY.head_size
    assert not any(n % 128 for n in (TINY.width, TINY.mlp_width, heads))
    assert TINY.vocab_size % 16 == 0 and TINY.max_len >= 1024
    assert TINY.eos_token_ids == (0,) and TrainConfig().long_row_length == TINY.max_len
