"""After `pip install -e .` the exercises are found from any folder; a wheel has none of them."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
IGNORED = shutil.ignore_patterns(
    "__pycache__", "*.egg-info", "build", ".venv", ".progress", "*.part"
)
# The environment of these tests has its own editable install: it must not answer for the copy.
RUN = """
import site, sys
sys.meta_path[:] = [f for f in sys.meta_path if "__editable__" not in getattr(f, "__module__", "")]
for name in [n for n in sys.modules if n.startswith("__editable__")]:
    del sys.modules[name]
sys.path.insert(0, {site!r})
site.addsitedir({site!r})
import exercises.desk.cli as cli
print(cli.__file__)
sys.exit(cli.run(["status", "0.2"]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the project without its assets."""
    root = tmp_path_factory.mktemp("project") / "course"
    root.mkdir()
    for name in ("minillm", "kernels", "exercises"):
        shutil.copytree(ROOT / name, root / name, ignore=IGNORED)
    (root / "docs").mkdir()
    for name in ("pyproject.toml", "setup.py", "LICENSE", "docs/LICENSE-PROSE.md"):
        shutil.copy(ROOT / name, root / name)
    return root


def pip(tree, *options):
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *options, *quiet], capture_output=True, text=True, cwd=tree
    )
    assert done.returncode == 0, done.stderr


def test_editable(tree, tmp_path):
    pip(tree, "install", "--target", str(tmp_path / "site"), "--editable", ".")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env["MINILLM_PROGRESS"] = str(tmp_path / "progress")
    code = RUN.format(site=str(tmp_path / "site"))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert str(tree / "exercises") in done.stdout and "One scale a row" in done.stdout


def test_a_wheel_has_the_engine_only(tree, tmp_path):
    pip(tree, "wheel", "--wheel-dir", str(tmp_path), ".")
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    assert any(n.startswith("minillm/") for n in names)
    assert not [n for n in names if n.startswith("exercises")]
