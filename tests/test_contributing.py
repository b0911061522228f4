"""CONTRIBUTING.md names files that are there and commands that can be called."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([\w.]+(?:/[\w.]+)+)`", PAGE)) | set(re.findall(r"\]\(([^)]+)\)", PAGE))
FILES = sorted(n for n in NAMED if "NN" not in n and "NAME" not in n and "exK" not in n)
MODULES = sorted(set(re.findall(r"python -m ([\w.]+)", PAGE)))
TARGETS = sorted(set(re.findall(r"`make ([\w-]+)", PAGE)))


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_it_names_is_there(name):
    assert (ROOT / name).exists()


def test_it_names_something():
    assert len(FILES) > 12 and len(MODULES) > 4 and len(TARGETS) > 2


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_it_calls_is_there(module):
    assert find_spec(module)


def test_a_make_target_that_it_names_is_there():
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    assert not [name for name in TARGETS if not any(line.startswith(f"{name}:") for line in lines)]


def test_the_builder_knows_the_options_that_it_names():
    command = [sys.executable, str(ROOT / "tools" / "build_notebooks.py"), "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert all(option in said for option in re.findall(r"build_notebooks\.py (--\w+)", PAGE))
