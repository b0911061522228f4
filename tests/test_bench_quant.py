"""The quant suite's structure: what it reports and what it does not claim. Never its times."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from minillm import bench_quant
from minillm.bench_quant import DENSE, SCHEMES, QuantPlan, quant_suite
from minillm.bench_quant_show import render
from minillm.cli import run

SMALL = replace(QuantPlan(pairs=2).quick(), read_tokens=16, size=64)


@pytest.fixture(scope="module")
def report():
    return quant_suite(SMALL)


def shown(report) -> str:
    from rich.console import Console

    console = Console(width=200, record=True, file=open("/dev/null", "w"))
    console.print(render(report))
    return console.export_text()


def test_every_engine_is_measured_in_every_round(report):
    (entry,) = report["models"]
    assert entry["model"] == "tiny" and len(entry["samples"]) == 2
    assert all(set(s) == {DENSE, *SCHEMES} for s in entry["samples"])
    assert set(entry["bytes"]) == {DENSE, *SCHEMES}
    held = {name: sum(kinds["linear"].values()) for name, kinds in entry["bytes"].items()}
    assert held["int4"] < 0.145 * held[DENSE] and held["int8"] < 0.26 * held[DENSE]


def test_the_sweep_has_all_rows_and_bytes(report):
    sweep = report["sweep"]
    assert [row["rows"] for row in sweep["rows"]] == list(bench_quant.ROWS)
    assert set(sweep["bytes"]) == {DENSE, "bf16", "int8", "int4", "w8a8"}
    assert sweep["bytes"]["bf16"] * 2 == sweep["bytes"][DENSE] == 64 * 64 * 4


def test_fast_mode_claims_no_ratio_and_says_so(report):
    assert report["models"][0]["ratios"] == {}
    assert all("ratios" not in row for row in report["sweep"]["rows"])
    text = shown(report)
    assert "no ratio is claimed" in text and "x [" not in text


def test_a_full_run_claims_ratios_from_pairs(report):
    entry = {"samples": [{DENSE: {"per_token_s": 4.0}, "int8": {"per_token_s": 2.0}}] * 15}
    bench_quant._summarise(entry, {"fast": False})
    assert entry["ratios"]["int8"]["per_token_s"]["median"] == 2.0
    assert DENSE not in entry["ratios"]


def test_a_model_that_is_absent_is_a_line_and_not_an_error():
    found = quant_suite(replace(SMALL, models=("nowhere",)))
    assert found["models"] == [] and found["not_tried"][0].startswith("nowhere")


def test_ctrl_c_keeps_what_was_measured(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_quant, "_bench_model", stop)
    found = quant_suite(SMALL)
    assert found["interrupted"] and found["sweep"]["rows"]
    assert "interrupted" in shown(found)


def test_the_command_knows_its_suites(capsys, monkeypatch):
    from minillm import cli_bench

    monkeypatch.setattr(cli_bench, "choose", lambda *a: (lambda p, g: None, None, None))
    assert run(["bench", "--suite", "magic"]) == 2
    assert "decode, serve" in capsys.readouterr().err
    assert run(["bench", "--suite", "quant", "--model", "tiny"]) == 2
    assert "own models" in capsys.readouterr().err


def test_a_report_is_json(report):
    json.dumps(report, allow_nan=False)


def test_the_quality_suite_judges_the_tasks_and_shows_them(monkeypatch):
    from rich.console import Console

    from minillm import bench_quality
    from minillm.bench_quality_show import render as shown_quality

    monkeypatch.setattr(bench_quality, "METHODS", ("rtn", "gptq"))
    plan = replace(bench_quality.QualityPlan().quick(), count=3)
    found = bench_quality.quality_suite(plan)
    assert [(row["bits"], row["method"]) for row in found["tasks"]] == [
        (32, "fp32"), (8, "rtn"), (8, "gptq"), (2, "rtn"), (2, "gptq"),
    ]  # fmt: skip
    worst, mended = found["tasks"][3:]
    assert mended["tales_perplexity"] < worst["tales_perplexity"]
    console = Console(width=160, record=True, file=open("/dev/null", "w"))
    console.print(shown_quality(found))
    assert "simulated" in console.export_text()
    json.dumps(found, allow_nan=False)


def test_an_interrupted_quality_run_goes_on_behind_its_rows(monkeypatch, tmp_path):
    from minillm import bench_quality

    monkeypatch.setattr(bench_quality, "METHODS", ("rtn",))
    plan = replace(bench_quality.QualityPlan().quick(), count=2)

    def stop(text, done, total):
        if text.startswith("tiny: 2 bits"):
            raise KeyboardInterrupt

    half = bench_quality.quality_suite(plan, stop)
    assert half["interrupted"] and [row["bits"] for row in half["tasks"]] == [32, 8]
    half = json.loads(json.dumps(half))
    half["tasks"][0]["tales_perplexity"] = -1.0  # a mark
    seen = []
    whole = bench_quality.quality_suite(plan, lambda text, *_: seen.append(text), half)
    assert [row["bits"] for row in whole["tasks"]] == [32, 8, 2] and not whole["interrupted"]
    assert whole["tasks"][0]["tales_perplexity"] == -1.0 and whole["resumed"]
    assert [text for text in seen if text.startswith("tiny")] == ["tiny: 2 bits, rtn"]
    for other in (None, [], {"suite": "quality"}, half | {"versions": {}}, whole):
        assert not bench_quality.goes_on(other, half | {"interrupted": False})


@pytest.mark.gemma
def test_the_real_model_is_judged_on_the_frozen_text(monkeypatch):
    from minillm import bench_quality

    rows = [r for r in bench_quality.ROWS if r[0] in ("int8", "int4 RTN")]
    monkeypatch.setattr(bench_quality, "ROWS", rows)
    plan = bench_quality.QualityPlan(window=64, tokens=128, compared=64)
    report = {"real": None}
    bench_quality._real(plan, report, lambda *_: None)
    dense, int8, int4 = report["real"]["rows"]
    assert dense["perplexity"] < 200 and int8["kl"] < int4["kl"]
    assert int8["bits"] < 8.1 and int4["bits"] == 4.5
