"""The planted faults: every one has its place in the code, some are run here, all in test-full."""

from __future__ import annotations

import pytest

from tools import mutation
from tools.mutation_faults import FAULTS, Fault

QUICK = ("token budget ignored", "position off by one")


def by_name(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


def test_every_fault_has_its_place_in_the_code_exactly_once():
    assert len(FAULTS) >= 12 and len({fault.name for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        text = (mutation.ROOT / fault.file).read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, fault.name
        compile(text.replace(fault.old, fault.new), fault.name, "exec")


def test_a_fault_whose_place_is_gone_is_an_error(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\nx = 1\n")
    for old, times in (("y", 0), ("x = 1", 2)):
        with pytest.raises(SystemExit, match=f"there {times} times"):
            mutation.plant(Fault("gone", "a.py", old, "", ""), tmp_path)


@pytest.mark.parametrize("name", QUICK)
def test_planted_fault_is_caught(name):
    assert mutation.caught_by(by_name(name), by_name(name).tests)


def test_a_harmless_change_is_not_caught():
    harmless = Fault("harmless", "minillm/cache/blocks.py", '"""Which request', '"""Whose', "")
    tests = "tests/test_faults.py -k budget"
    assert mutation.caught_by(harmless, tests) is None


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_all_planted_faults_are_caught():
    assert mutation.run(list(FAULTS), jobs=1) == 0
