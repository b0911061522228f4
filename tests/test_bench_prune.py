"""The prune suite in fast mode, what its tables say, and that an interrupted run goes on."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from minillm import bench_prune, bench_prune_show
from minillm.bench_prune import PrunePlan, prune_suite
from minillm.bench_prune_show import pareto
from minillm.cli import run
from minillm.compress.tiny_shrunk import shares_of


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINILLM_FAST", "1")
        return prune_suite(PrunePlan().quick())


def test_every_part_is_there_and_plain(report):
    assert json.loads(json.dumps(report)) and not report["interrupted"]
    assert [row["gone"] for row in report["layers"]] == [0, 1, 2, 3, 4, 5]
    assert len(report["methods"]) == 1 + 3 * 2
    assert len(report["combinations"]) == 5 * 3
    names = [row["name"] for row in report["speed"]["rows"]]
    assert names[:3] == ["dense", "50% zeros", "shrunk"]
    assert all("ratio" not in row for row in report["speed"]["rows"])  # fast mode claims nothing


def test_what_is_counted_differs_where_it_should(report):
    rows = {row["name"]: row for row in report["combinations"]}
    dense, half, small = rows["dense"], rows["2:4"], rows["shrunk"]
    assert half["flops"] == dense["flops"] > small["flops"]
    assert half["kv_bytes"] == dense["kv_bytes"] > small["kv_bytes"]
    assert half["bytes"] < dense["bytes"] and small["bytes"] < dense["bytes"]
    assert rows["shrunk, int4"]["bytes"] < rows["dense, int4"]["bytes"] < dense["bytes"]
    assert rows["shrunk, trained again"]["mean"] > small["mean"]
    speed = {row["name"]: row for row in report["speed"]["rows"]}
    assert speed["50% zeros"]["bytes"] == speed["dense"]["bytes"]
    assert speed["shrunk"]["bytes"] < 0.8 * speed["dense"]["bytes"]


def test_the_tables_hold_every_row(report):
    out = io.StringIO()
    Console(file=out, width=200).print(bench_prune_show.render(report))
    text = out.getvalue()
    for row in report["combinations"]:
        assert row["name"] in text
    assert "tiny without one layer" in text and "treated alike" in text


def test_every_combination_has_the_speed_of_what_it_is(report):
    from minillm.bench_prune_show import speed_of

    medians = {r["name"]: r["per_token_s"]["median"] for r in report["speed"]["rows"]}
    rows = {row["name"]: speed_of(report["speed"], row) for row in report["combinations"]}
    assert all(rows.values())
    assert rows["shrunk, trained again, int4"] == medians["shrunk, int4"]
    assert rows["2:4, trained again"] == medians["50% zeros"]
    assert rows["2:4, int8"] == rows["dense, int8"] == medians["int8"]
    assert speed_of(None, report["combinations"][0]) is None


def test_an_interrupted_run_goes_on(report, monkeypatch):
    monkeypatch.setenv("MINILLM_FAST", "1")
    part = json.loads(json.dumps(report)) | {"interrupted": True}
    part["methods"], part["combinations"] = part["methods"][:-1], part["combinations"][:-3]
    asked = []
    again = prune_suite(PrunePlan().quick(), lambda what, *_: asked.append(what), part)
    assert again["resumed"] and asked == [
        "tiny: sparsegpt 2:4",
        "tiny: shrunk, trained again",
    ]
    assert again["methods"][:-1] == report["methods"][:-1]
    assert [r["name"] for r in again["combinations"]] == [r["name"] for r in report["combinations"]]


def test_ctrl_c_keeps_what_was_done(monkeypatch):
    monkeypatch.setenv("MINILLM_FAST", "1")
    monkeypatch.setattr(bench_prune, "speed", lambda *_: None)
    monkeypatch.setattr(bench_prune, "without_each_layer", lambda *_: (_ for _ in ()).throw(
        KeyboardInterrupt))  # fmt: skip
    stopped = prune_suite(PrunePlan().quick())
    assert stopped["interrupted"] and stopped["methods"] == []
    Console(file=io.StringIO()).print(bench_prune_show.render(stopped))


def test_the_front_by_hand():
    points = [(1, 5), (2, 4), (2, 5), (3, 4), (4, 1), (1, 5)]
    assert pareto(points) == [0, 1, 4, 5]


def test_another_model_is_cut_to_the_same_share_of_parameters():
    from minillm.blank import blank_config
    from minillm.clock import num_parameters
    from minillm.compress.shrink import _grouped

    for size in (100_000_000, 400_000_000, 1_200_000_000):
        config = blank_config(1024, size)
        shares = shares_of(config)
        assert _grouped(shares["heads"], None, config)[0] == shares["heads"] < config.num_heads
        assert 1 <= shares["layers"] < config.num_layers
        layers = shares["layers"]
        small = replace(
            config, num_layers=layers, num_heads=shares["heads"], mlp_width=shares["channels"],
            windows=(), rope_of_layer=(),
        )  # fmt: skip
        assert 0.68 < num_parameters(small) / num_parameters(config) < 0.72


def test_the_command_shrinks_into_a_folder_that_loads(tmp_path, capsys):
    import minillm

    out = tmp_path / "small"
    args = ["--layers", "5", "--heads", "6", "--channels", "0.75", "--json"]
    assert run(["prune", "--out", str(out), *args]) == 0
    found = json.loads(capsys.readouterr().out)
    model, _ = minillm.load(str(out))
    assert model.config.num_layers == 5 and model.config.mlp_width == 384
    assert found["after"]["parameters"] == model.num_parameters() < found["before"]["parameters"]
    assert found["judged_by"] == "text" and 0 < found["distance"]["kl"]


def test_the_command_sets_weights_to_zero(tmp_path, capsys):
    out = tmp_path / "zeros"
    assert run(["prune", "--out", str(out), "--method", "wanda", "--pattern", "2:4"]) == 0
    text = capsys.readouterr().out
    assert "50.0%" in text and "no step is faster" in text
    assert "2:4 of the weights kept, wanda" in text


@pytest.mark.parametrize(
    "args, words",
    [
        (["--layers", "5", "--sparsity", "0.5"], "either single weights"),
        (["--layers", "many"], "--layers: a whole number, or a share"),
        (["--layers", "9"], "a whole number from 1 to 6"),
        (["--heads", "5"], "one of 2, 4, 6, 8 can remain"),
        (["--sparsity", "2"], "from 0 to 1, got 2.0"),
        (["--pattern", "2-4"], 'pattern is "N:M"'),
        (["--method", "luck"], "method must be one of"),
        (["--calibration", "nowhere.txt"], "--calibration"),
    ],
)
def test_bad_flags_are_one_line(tmp_path, capsys, args, words):
    assert run(["prune", "--out", str(tmp_path / "x"), *args]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("more, title", [
    ({}, "50% of the weights set to 0, magnitude"),
    ({"sparsity": 0.3, "method": "wanda"}, "30% of the weights set to 0, wanda"),
    ({"layers": 5, "kv_heads": 2}, "kept: kv-heads 2, layers 5; judged by weights"),
])  # fmt: skip
@pytest.mark.parametrize("top1", [0.89, 0.9])
def test_the_table_says_what_was_done_and_when_training_is_needed(capsys, more, title, top1):
    from minillm.cli import _print_rich
    from minillm.cli_prune import HALF, render_prune
    from minillm.compress.prune import SPARSITY

    assert HALF == SPARSITY
    found = {"folder": "x", "seconds": 1.0, "zeros": 0.5, "judged_by": "weights"} | more
    found |= {"before": {"bytes": 2}, "after": {"bytes": 1}, "distance_text": "a.txt"}
    _print_rich(render_prune(found | {"distance": {"top1": top1, "tokens": 9, "kl": 0.1}}))
    text = capsys.readouterr().out
    assert title in text and ("needs training: notebook 13" in text) == (top1 < 0.9)
