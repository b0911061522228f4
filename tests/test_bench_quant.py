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
