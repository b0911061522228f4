"""State of a training run: damaged, foreign or hostile files are one clear error and never run."""

import dataclasses
import os
import pickle

import pytest
import torch
import zoo

from minillm.checkpoint import CheckpointError, load_checkpoint, mark_of, save_checkpoint
from minillm.compress.prune import prune
from minillm.compress.recover import finetune

TEXTS = [zoo.random_tokens(60, seed).tolist() for seed in range(4)]
SHORT = dict(steps=2, row_length=16, tokens_per_step=32, check_every=2, warmup=1)


@dataclasses.dataclass(frozen=True)
class Settings:
    steps: int = 3


class Bar:
    steps = 0

    def __init__(self, **_):
        pass

    def update(self, n):
        Bar.steps += n

    def set_postfix(self, **_):
        pass

    def close(self):
        pass


class Evil:
    def __reduce__(self):
        return os.mkdir, ("ran",)


def parts():
    model = torch.nn.Linear(3, 2)
    return model, [torch.optim.AdamW(model.parameters())]


def changed(folder, **more) -> None:
    path = folder / "checkpoint.pt"
    state = torch.load(path, weights_only=True)
    torch.save({k: v for k, v in (state | more).items() if v is not ...}, path)


def cut(folder, share):
    data = (folder / "checkpoint.pt").read_bytes()
    (folder / "checkpoint.pt").write_bytes(data[: int(share * len(data))])


DAMAGE = {
    "empty": lambda f: cut(f, 0),
    "half": lambda f: cut(f, 0.5),
    "its end": lambda f: cut(f, 0.99),
    "noise": lambda f: (f / "checkpoint.pt").write_bytes(b"\x80\x02noise" * 40),
    "pickle": lambda f: (f / "checkpoint.pt").write_bytes(pickle.dumps(Evil(), 2)),
    "torch's pickle": lambda f: torch.save({"config": Evil()}, f / "checkpoint.pt"),
    "a list": lambda f: torch.save([1], f / "checkpoint.pt"),
    "a folder": lambda f: ((f / "checkpoint.pt").unlink(), (f / "checkpoint.pt").mkdir()),
    "a pipe": lambda f: ((f / "checkpoint.pt").unlink(), os.mkfifo(f / "checkpoint.pt")),
    "no model": lambda f: changed(f, model=...),
    "another shape": lambda f: changed(f, model=torch.nn.Linear(3, 4).state_dict()),
    "no optimizer": lambda f: changed(f, optimizers=[]),
    "no step": lambda f: changed(f, step=...),
    "step -1": lambda f: changed(f, step=-1),
    "step in words": lambda f: changed(f, step="x"),
    "no seconds": lambda f: changed(f, seconds=None),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_checkpoint_is_one_clear_error_and_never_runs(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_checkpoint(tmp_path / "run", *parts(), Settings(), 3, 1.0, 0.5)
    assert load_checkpoint(tmp_path / "run", *parts(), Settings()) == (3, 1.0, None)
    DAMAGE[kind](tmp_path / "run")
    with pytest.raises(CheckpointError, match=r"run/checkpoint\.pt is damaged") as error:
        load_checkpoint(tmp_path / "run", *parts(), Settings())
    assert "weights_only" not in str(error.value)  # torch advises to switch the guard off
    assert not (tmp_path / "ran").exists()


def test_other_settings_are_told_from_damage(tmp_path):
    save_checkpoint(tmp_path, *parts(), Settings(), 3, 1.0, 0.5)
    with pytest.raises(CheckpointError, match="other settings"):
        load_checkpoint(tmp_path, *parts(), Settings(4))


def test_a_mark_changes_with_every_weight_and_with_the_sign_of_zero():
    model = torch.nn.Linear(3, 2)
    before = mark_of(model)
    assert mark_of(model) == before != mark_of(None)
    for p in model.parameters():
        with torch.no_grad():
            p.view(-1)[-1] = -p.view(-1)[-1]
        assert mark_of(model) != before
        before = mark_of(model)


def run(model, folder, **more):
    return finetune(model, **{"texts": TEXTS, "folder": folder, "progress": Bar, **SHORT, **more})


def test_a_folder_belongs_to_its_weights_teacher_and_texts(tmp_path):
    """The same shape is not the same run: another's weights would come back, with other zeros."""
    model = zoo.random_model("llama 5:1", torch.float32)
    small = prune(model, "magnitude", 0.5)
    first = run(small, tmp_path, teacher=model)
    for other, more in (
        (prune(model, "wanda", 0.5, calibration=TEXTS), dict(teacher=model)),
        (small, dict(teacher=zoo.random_model("llama 5:1", torch.float32, seed=1))),
        (small, dict(teacher=model, texts=TEXTS[1:] + TEXTS[:1])),
        (small, dict(teacher=model, keep_zeros=False)),
    ):
        with pytest.raises(ValueError, match="another model or of other settings"):
            run(other, tmp_path, **more)
    again = run(small, tmp_path, teacher=model)
    assert all(map(torch.equal, first.parameters(), again.parameters()))


@pytest.mark.parametrize("extra", [None, {}, {"best": {}, "best_loss": 1.0, "since": 0}, "x"])
def test_the_best_weights_of_a_folder_must_be_this_models(extra, tmp_path):
    model = zoo.random_model("llama 5:1", torch.float32)
    run(model, tmp_path)
    changed(tmp_path, extra=extra)
    with pytest.raises(ValueError, match="is damaged.*name another folder"):
        run(model, tmp_path)


def test_a_folder_that_cannot_be_used_is_told_before_the_first_step(tmp_path):
    (tmp_path / "file").write_text("")
    Bar.steps = 0
    for place in (tmp_path / "file", tmp_path / "file" / "inside"):
        with pytest.raises(ValueError, match="folder=.*cannot be used"):
            run(zoo.random_model("llama 5:1", torch.float32), place)
    assert Bar.steps == 0


def test_a_loss_that_is_nan_from_the_start_is_told_before_the_first_step(tmp_path):
    model = zoo.random_model("llama 5:1", torch.float32)
    model.norm.weight[0] = float("nan")
    Bar.steps = 0
    with pytest.raises(ValueError, match="NaN before the first step"):
        run(model, None)
    assert Bar.steps == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bit_models_are_really_trained(dtype):
    """Their optimizer needs fp32: in fp16 every step was NaN, and the model came back unchanged."""
    model = zoo.random_model("llama 5:1", torch.float32)
    texts, settings = [[1, 2, 3, 4, 5, 6, 7] * 9] * 4, SHORT | dict(steps=20, check_every=10)
    logits = lambda m: m(torch.tensor(texts[0])).float()[:-1]
    loss = lambda m: torch.nn.functional.cross_entropy(logits(m), torch.tensor(texts[0][1:]))
    before, wide = loss(model), loss(run(model, None, texts=texts, **settings))
    low = run(model.to(dtype), None, texts=texts, **settings)
    assert low.embedding.weight.dtype == dtype
    assert wide < before - 1
    assert abs(loss(low) - wide) < 0.1 * (before - wide)
