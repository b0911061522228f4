"""Recorded reports: read when they are what they say, and a plain line when there is none."""

import json
import subprocess
import sys

import pytest

from minillm import recorded

REPORT = {
    "suite": "quality", "interrupted": False, "fast": False, "date": "2026-11-30T08:00:00+00:00",
    "machine": {"cpu": "Some CPU", "threads": 1}, "versions": {"torch": "2.13.0"},
}  # fmt: skip


def write(folder, report, name="quality"):
    (folder / f"{name}.json").write_text(report if isinstance(report, str) else json.dumps(report))


def test_a_report_is_read_and_told(tmp_path):
    write(tmp_path, REPORT)
    found = recorded.report("quality", tmp_path)
    assert found == REPORT
    line = recorded.told("quality", found)
    assert all(w in line for w in ("2026-11-30", "Some CPU", "1 threads", "2.13.0", "--suite"))
    assert "not all rows" not in line
    assert "not all rows" in recorded.told("quality", REPORT | {"interrupted": True})


@pytest.mark.parametrize(
    "report", [None, "{", "[]", REPORT | {"fast": True}, REPORT | {"suite": "quant"}]
)
def test_what_cannot_be_used_is_not_recorded_yet(tmp_path, report):
    if report is not None:
        write(tmp_path, report)
    found = recorded.report("quality", tmp_path)
    assert found is None
    assert "not recorded yet" in recorded.told("quality", found)


def test_it_needs_no_torch():
    code = "import sys; import minillm.recorded; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
