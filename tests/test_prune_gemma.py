"""Pruning the real model: which method keeps more of it, in the recorded run and in a short one."""

import json
from pathlib import Path

import pytest

from minillm.bench_prune import PrunePlan, _real
from minillm.compress.tiny_shrunk import RECORD

REPORT = Path(__file__).resolve().parents[1] / "docs" / "prune.json"


def in_order(rows: list[dict]) -> None:
    """SparseGPT <= Wanda < magnitude, at 50% and at 2:4; nothing is better than the whole model."""
    found = {row["name"]: row["perplexity"] for row in rows}
    for what in ("50%", "2:4"):
        magnitude, wanda, mended = (
            found[f"{method}, {what}"] for method in ("magnitude", "Wanda", "SparseGPT")
        )
        assert found["dense"] < mended <= wanda < magnitude, what


def test_the_recorded_run_keeps_the_order():
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    assert not report["fast"] and report["plan"]["tokens"] == PrunePlan().tokens
    in_order(report["real"]["rows"])


def test_the_recorded_speed_of_blank():
    report = json.loads(REPORT.read_text(encoding="utf-8"))
    rows = {row["name"]: row for row in report["speed"]["rows"]}
    share = rows["shrunk"]["parameters"] / rows["dense"]["parameters"]
    assert 0.68 < share < 0.72
    assert rows["shrunk"]["ratio"]["median"] >= 1.2
    assert rows["50% zeros"]["ratio"]["low"] < 1.1  # zeros are not speed


def test_the_recorded_recovery():
    report, record = (json.loads(p.read_text(encoding="utf-8")) for p in (REPORT, RECORD))
    rows = {row["name"]: row for row in report["combinations"]}
    lost = rows["dense"]["mean"] - rows["shrunk, trained again"]["mean"]
    assert lost < 0.05 and rows["shrunk"]["mean"] < rows["dense"]["mean"] - 0.3
    assert record["seconds"] < 900


@pytest.mark.gemma
@pytest.mark.slow
def test_a_short_run_keeps_the_order():
    report = {"real": None}
    plan = PrunePlan(tokens=2048, compared=512, calibration=4096)
    _real(plan, report, lambda *_: None)
    in_order(report["real"]["rows"])
