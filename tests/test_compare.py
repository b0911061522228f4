"""Distances between models, flips, bits per weight, and the command that makes a smaller model."""

import errno
import json

import pytest
import torch
import zoo

import minillm
from minillm.cli import run
from minillm.cli_quantize import check_out
from minillm.compress import compare
from minillm.compress.compare import bits_per_weight, distance, flips
from minillm.compress.quant import quantize, simulate
from minillm.load import TINY
from minillm.save import save


@pytest.fixture(scope="module")
def tiny():
    return minillm.load("tiny")


def test_places_are_compared_in_pieces_and_all_of_them(monkeypatch, tiny):
    model, tokenizer = tiny
    other = simulate(model, 3)
    texts = [tokenizer.encode("Once upon a time there was a small dog."), [5, 6, 7, 8, 9, 10, 11]]
    whole = compare.distance(model, other, texts)
    monkeypatch.setattr(compare, "PLACES", 3)
    pieces = compare.distance(model, other, texts)
    assert pieces.tokens == whole.tokens and pieces.top1 == whole.top1
    assert pieces.kl == pytest.approx(whole.kl) and whole.kl > 0
    assert pieces.logit_error == pytest.approx(whole.logit_error)


def test_a_model_has_no_distance_from_itself_and_a_worse_one_has_more():
    model = zoo.random_model("qwen3")
    texts = [zoo.random_tokens(9).tolist(), zoo.random_tokens(4).tolist()]
    same = distance(model, model, texts)
    assert (same.kl, same.top1, same.logit_error, same.tokens) == (0, 1, 0, 13)
    fine, coarse = (distance(model, quantize(model, s, None), texts) for s in ("int8", "int4"))
    assert 0 < fine.kl < coarse.kl and 0 < fine.logit_error < coarse.logit_error


def test_the_distance_is_the_textbook_sum():
    model = zoo.random_model("llama 12/2")
    other, tokens = quantize(model, "int4", None), zoo.random_tokens(6)
    p, q = model(tokens).softmax(-1), other(tokens).softmax(-1)
    kl = sum(float((a * (a / b).log()).sum()) for a, b in zip(p, q)) / 6
    got = distance(model, other, [tokens.tolist()])
    assert abs(got.kl - kl) < 1e-12
    assert got.top1 == float((p.argmax(-1) == q.argmax(-1)).double().mean())
    with pytest.raises(ValueError, match="at least one token"):
        distance(model, other, [])


def test_a_constant_added_to_all_logits_is_no_error():
    model = zoo.random_model("qwen2")
    shifted = lambda tokens, **more: model(tokens, **more) + 3.0
    shifted.config = model.config
    got = distance(model, shifted, [zoo.random_tokens(5).tolist()])
    assert got.logit_error < 1e-12 and abs(got.kl) < 1e-12


def test_flips_count_answers_that_changed_either_way(tiny):
    model, tokenizer = tiny
    same = flips(model, model, tokenizer, count=10)
    assert all(f.flipped == 0 and f.before == f.after for f in same.values())
    broken = quantize(model, "int8")
    broken.layers[0].mlp.down.scale = broken.layers[0].mlp.down.scale * 8
    worse = flips(model, broken, tokenizer, count=10)
    assert all(f.flipped >= abs(f.before - f.after) for f in worse.values())
    assert any(f.flipped > 0 for f in worse.values())


def test_bits_per_weight_count_the_scales(tiny):
    model, _ = tiny
    assert bits_per_weight(model) == 32
    assert bits_per_weight(quantize(model, "int4", 64)) == 4 + 32 / 64
    assert bits_per_weight(quantize(model, "int4", 32, symmetric=False)) == 4 + 40 / 32
    assert 8 < bits_per_weight(quantize(model, "int8")) < 8.2


@pytest.mark.parametrize("options", [[], ["--method", "gptq"], ["--scheme", "w8a8"]])
def test_the_command_makes_a_folder_that_loads(tmp_path, capsys, options):
    assert run(["quantize", "--out", str(tmp_path / "m"), "--json", *options]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["after"]["linear"] < 0.27 * told["before"]["linear"]
    assert 0.5 < told["distance"]["top1"] <= 1
    model, _ = minillm.load(tmp_path / "m")
    assert sum(model.weight_bytes()["linear"].values()) == told["after"]["linear"]


def test_a_table_and_a_calibration_file(tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("Once upon a time a small fox met a dog near the river. " * 60)
    command = ["quantize", "--out", str(tmp_path / "m"), "--method", "awq", "--scheme", "int8"]
    assert run([*command, "--calibration", str(text)]) == 0
    shown = capsys.readouterr().out
    assert "bits per linear weight" in shown and "KL divergence" in shown


@pytest.mark.parametrize("options, message", [
    (["--scheme", "int3"], "--scheme must be one of int8, int4, w8a8, got 'int3'"),
    (["--scheme", "nf4"], "save int4"),
    (["--method", "best"], "method must be one of"),
    (["--head", "nf4"], "head must be"),
    (["--scheme", "w8a8", "--group-size", "64"], "one scale a row"),
    (["--calibration", "nowhere.txt", "--method", "gptq"], "nowhere.txt"),
    (["--model", "blank", "--method", "awq"], "needs --calibration"),
    (["--group-size", "7"], "--group-size 7 does not divide"),
    (["--group-size", "9" * 24], "--group-size"),
    (["--calibration", ""], "--calibration: give the name of a text file"),
    (["--calibration", "/no/such/text"], "there is none"),
    (["--calibration", "/"], "it is not a file"),
])  # fmt: skip
def test_wrong_options_are_one_clear_line(tmp_path, capsys, options, message):
    assert run(["quantize", "--out", str(tmp_path / "m"), *options]) == 2
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told
    assert not (tmp_path / "m").exists()


def test_a_place_that_cannot_be_is_told_at_once(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert run(["quantize", "--out", str(tmp_path / "file")]) == 2
    assert "is a file" in capsys.readouterr().err
    assert run(["quantize", "--out", str(tmp_path / "no" / "m")]) == 2
    assert "does not exist" in capsys.readouterr().err
    short = tmp_path / "short.txt"
    short.write_text("a few words")
    assert run(["quantize", "--out", str(tmp_path / "m"), "--calibration", str(short)]) == 2
    assert "too few" in capsys.readouterr().err
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("options, message", [
    (["--scheme", "nf4", "--method", "awq"], "save int4"),
    (["--group-size", "100"], "--group-size 100 does not divide"),
    (["--out", "FOLDER"], "holds other files (mine.txt)"),
    (["--out", ""], "--out: give the name"),
    (["--out", "/"], "/ holds the folder you are in"),
    (["--out", "."], ". is the folder you are in"),
    (["--out", "link"], "is not a folder"),
])  # fmt: skip
def test_nothing_is_quantised_that_could_not_be_saved(
    tmp_path, capsys, monkeypatch, options, message
):
    def too_late(*args, **options):
        raise AssertionError("quantised before it was refused")

    monkeypatch.setattr("minillm.compress.quant.quantize", too_late)
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FOLDER" / "mine.txt").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(["quantize", "--out", "m", *options]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_to_is_told_at_once(tmp_path, capsys, monkeypatch):
    def refuse(**options):  # root may write everywhere
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    assert run(["quantize", "--out", str(tmp_path / "m")]) == 2
    assert "nothing can be written" in capsys.readouterr().err


def test_the_trial_of_the_place_leaves_nothing(tmp_path):
    check_out(str(tmp_path / "m"), "tiny", False)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "mine"
    save(*minillm.load("tiny", device="cpu"), folder)
    return folder


@pytest.mark.parametrize("command", [["quantize"], ["prune", "--layers", "5"]])
@pytest.mark.parametrize("out, model, more, message", [
    ("mine", "tiny", [], "holds a model already; another name, or add --replace"),
    ("mine", "mine", ["--replace"], "is the model that is read"),
    ("mine", "./mine/", ["--replace"], "is the model that is read"),
    (str(TINY), "tiny", ["--replace"], "belongs to minillm itself"),
    (str(TINY), "mine", ["--replace"], "belongs to minillm itself"),
    (str(TINY.parent / "new"), "tiny", [], "belongs to minillm itself"),
])  # fmt: skip
def test_a_model_that_is_there_stays(
    saved, monkeypatch, capsys, command, out, model, more, message
):
    """Of somebody's, of the package, or the one that is read: nothing is loaded, nothing goes."""
    monkeypatch.chdir(saved.parent)
    for module in ("cli_quantize", "cli_prune"):  # had it come so far, the model would be gone
        monkeypatch.setattr(f"minillm.{module}.run_{module[4:]}", pytest.fail)
    assert run([*command, "--out", out, "--model", model, *more]) == 2
    assert message in capsys.readouterr().err


def test_replace_takes_the_old_models_place(saved, tmp_path, capsys):
    out = tmp_path / "m"
    out.mkdir()  # empty: nothing is lost
    assert run(["quantize", "--out", str(out), "--model", str(saved)]) == 0
    before = (out / "model.safetensors").stat().st_size
    again = ["quantize", "--out", str(out), "--model", str(saved), "--scheme", "int8"]
    assert run(again) == 2 and (out / "model.safetensors").stat().st_size == before
    assert run([*again, "--replace"]) == 0
    assert (out / "model.safetensors").stat().st_size > before


def test_the_table_says_which_text_judged(tmp_path, capsys):
    """The same rounding agrees less with the model on a text that it never learned."""
    text = tmp_path / "own.txt"
    text.write_text("Paging ends the waste between many requests at once. " * 60)
    command = ["quantize", "--scheme", "int4", "--out"]
    assert run([*command, str(tmp_path / "a")]) == 0
    assert "in the text it learned" in capsys.readouterr().out
    assert run([*command, str(tmp_path / "b"), "--calibration", str(text), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["distance_text"] == str(text)


def test_the_columns_told_are_those_of_the_layers(tmp_path, capsys):
    """A group longer than a row is the row."""
    assert run(["quantize", "--out", str(tmp_path / "m"), "--json", "--group-size", "4096"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["columns_a_scale"] == [256, 512] and "group_size" not in told


@pytest.mark.parametrize(
    "given, told",
    [(None, "the text it learned"), ("-", "standard input"), ("my.txt", "my.txt")],
)
def test_the_text_that_judged_is_called_by_a_name(monkeypatch, given, told):
    from minillm import cli_quantize
    from minillm.compress import compare

    monkeypatch.setattr(compare, "distance", lambda *_: compare.Distance(0.0, 1.0, 0.0, 1))
    assert cli_quantize.judgement(None, None, [], given)["distance_text"] == told
