"""The set-up: commands, pins, extras, and an environment that is found done, or mended."""

import importlib.metadata as metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import tomllib

from exercises.desk.answers import path_of
from exercises.desk.tracked import NAMES

ROOT = Path(__file__).resolve().parents[1]
PIN = re.compile(r"^([\w.-]+)==([\w.+]+)(?:\s*;\s*(.+))?$")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pins():
    """{name: (version, marker)} of requirements.txt."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    found = [PIN.match(line) for line in lines]
    assert all(found), [line for line, m in zip(lines, found, strict=True) if not m]
    return {m[1]: (m[2], m[3]) for m in found}


@pytest.fixture
def setup(tmp_path, monkeypatch):
    """tools/setup.py as a module whose project is a copy in tmp_path."""
    spec = importlib.util.spec_from_file_location("setup_tool", ROOT / "tools" / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "tools").mkdir()
    for name in ("requirements.txt", "pyproject.toml", "tools/setup.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    venv = tmp_path / ".venv"
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", venv)
    monkeypatch.setattr(module, "PYTHON", venv / "bin" / "python")
    monkeypatch.setattr(module, "STAMP", venv / "minillm-setup.txt")
    return module


def test_pins_are_what_is_installed():
    from packaging.markers import Marker

    for name, (version, marker) in pins().items():
        if marker and not Marker(marker).evaluate():
            continue
        installed = metadata.version(name).split("+")[0]
        assert installed == version, f"{name}: pinned {version}, tested with {installed}"


def test_triton_is_the_version_torch_names():
    requirements = metadata.requires("torch") or []
    named = [r for r in requirements if r.startswith("triton")]
    version, marker = pins()["triton"]
    assert 'sys_platform == "linux"' in marker
    for requirement in named:  # the CPU build names none
        assert version in requirement


def test_loose_bounds_allow_the_pins():
    from packaging.requirements import Requirement

    loose = [Requirement(r) for r in PROJECT["dependencies"]]
    for name in ("lab", "dev"):
        loose += [Requirement(r) for r in PROJECT["optional-dependencies"][name]]
    exact = {name.lower().replace("_", "-"): version for name, (version, _) in pins().items()}
    loose = [r for r in loose if r.name != "minillm-course"]
    for requirement in loose:
        assert str(requirement.specifier).startswith(">="), requirement
        version = exact.pop(requirement.name.lower().replace("_", "-"))
        assert version in requirement.specifier, f"{requirement} excludes the pinned {version}"
    assert set(exact) == {"triton"}, f"pinned and in no extra: {set(exact) - {'triton'}}"


def test_project_names():
    assert PROJECT["name"] == "minillm-course"
    assert PROJECT["scripts"] == {"minillm": "minillm.cli:main"}
    assert PROJECT["requires-python"] == ">=3.10"
    extras = PROJECT["optional-dependencies"]
    assert set(extras) == {"lab", "dev", "gemma", "peers"}
    always = " ".join(pins())
    assert not [p for p in extras["peers"] if p.split(">")[0] in always]


def dry_make(*arguments: str) -> str:
    """What make would run; without what a make around these tests hands down to its children."""
    handed = ("MAKE", "MFLAGS", "GEMMA", "ARGS")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(handed)}
    done = subprocess.run(
        ["make", "-n", *arguments], cwd=ROOT, env=clean, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "name", ["setup", "lab", "test", "test-full", "demo", "notebooks", "portfolio"]
)
def test_make_targets_exist_and_set_up_first(name):
    assert "tools/setup.py" in dry_make(name).splitlines()[0]


def test_make_passes_arguments_on():
    lab = dry_make("lab", "ARGS=--no-browser --port=9000")
    assert lab.rstrip().endswith("tools/lab.py --no-browser --port=9000")
    for gemma in ("", "1"):
        test = dry_make("test", f"GEMMA={gemma}")
        assert ("--extra gemma" in test and "--gemma" in test) is (gemma == "1")
        assert "-n 2" in test and "OMP_NUM_THREADS=1" in test and "ruff check" in test


def test_lint_leaves_out_learners_answers_and_nothing_else():
    """`make test` works with a half-written answer in a learner's own style: lint never reads it.

    What it begins with is read; so are checks, references, wrong and right answers.
    """
    command = [sys.executable, "-m", "ruff", "check", "--show-files", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    exercises = ROOT / "exercises"
    read = {Path(line) for line in done.stdout.splitlines()}
    learners = {path_of(exercise_id) for exercise_id in NAMES}
    here = {p for p in exercises.rglob("*.py") if ".progress" not in p.parts}
    assert len(learners) > 100 and learners <= here
    assert {p for p in read if p.is_relative_to(exercises)} == here - learners


def test_ci_runs_everything():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "exec make test GEMMA=1" in (ROOT / ".ci" / "run").read_text()


def test_setup_needs_only_the_standard_library():
    code = "import runpy; runpy.run_path('tools/setup.py')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_done_only_for_the_same_files(setup):
    assert not setup.is_done()
    setup.PYTHON.parent.mkdir(parents=True)
    setup.PYTHON.touch()
    assert not setup.is_done(), "an environment without a stamp was interrupted"
    setup.STAMP.write_text(f"{setup.fingerprint()} {setup.VENV}\n")
    assert setup.is_done()
    for name in ("requirements.txt", "pyproject.toml"):
        text = (setup.ROOT / name).read_text()
        (setup.ROOT / name).write_text(text + "\n# changed\n")
        assert not setup.is_done(), f"a change of {name} was not seen"
        (setup.ROOT / name).write_text(text)
    setup.PYTHON.unlink()
    assert not setup.is_done()


def test_a_half_made_environment_is_made_again(setup):
    setup.PYTHON.parent.mkdir(parents=True)
    setup.PYTHON.write_text("#!/bin/false\n")
    setup.PYTHON.chmod(0o755)
    setup.make_venv()
    assert setup.in_venv("-c", "import pip").returncode == 0


def test_damaged_distributions_are_found(setup, tmp_path):
    site = tmp_path / "site"
    for name, damage in (("whole", ""), ("short", "cut"), ("gone", "file"), ("bare", "record")):
        (site / name).mkdir(parents=True)
        (site / name / "__init__.py").write_text("x = 1\n")
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "RECORD").write_text(f"{name}/__init__.py,,6\n{name}-1.0.dist-info/METADATA,,\n")
        if damage == "cut":
            (site / name / "__init__.py").write_text("x")
        if damage == "file":
            (site / name / "__init__.py").unlink()
        if damage == "record":
            (info / "RECORD").unlink()
    code = f"import sys; sys.path = [{str(site)!r}, *sys.path[1:]]\n{setup.FIND_DAMAGE}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = set(done.stdout.split())
    assert {"short==1.0", "gone==1.0", "bare==1.0"} <= found
    assert "whole==1.0" not in found


def test_nothing_of_this_environment_is_damaged(setup):
    done = subprocess.run([sys.executable, "-c", setup.FIND_DAMAGE], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done


@pytest.mark.parametrize(
    ("platform", "nvidia", "index", "expected"),
    [
        ("linux", False, None, "https://download.pytorch.org/whl/cpu"),
        ("linux", True, None, ""),
        ("darwin", False, None, ""),
        ("linux", False, "", ""),
        ("linux", True, "https://example.org/cu128", "https://example.org/cu128"),
    ],
)
def test_which_index_torch_comes_from(setup, monkeypatch, platform, nvidia, index, expected):
    monkeypatch.setattr(setup.sys, "platform", platform)
    monkeypatch.setattr(setup.shutil, "which", lambda _: "/bin/nvidia-smi" if nvidia else None)
    monkeypatch.delenv("TORCH_INDEX", raising=False)
    if index is not None:
        monkeypatch.setenv("TORCH_INDEX", index)
    assert setup.torch_index() == expected


def test_an_index_that_does_not_answer_is_left_out(setup, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(setup, "torch_index", lambda: "https://127.0.0.1:9/simple")
    monkeypatch.setattr(setup, "PYTHON", Path(sys.executable))
    monkeypatch.setattr(setup, "pip", lambda *arguments: asked.append(arguments))
    setup.install_torch("2.13.0")
    assert asked == [("--no-deps", "torch==2.13.0")]
    assert "does not answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device"), "make room"),
        (KeyboardInterrupt(), "nothing is lost"),
    ],
)
def test_trouble_is_one_clear_line(setup, monkeypatch, capsys, error, words):
    def trouble():
        raise error

    monkeypatch.setattr(setup, "install", trouble)
    monkeypatch.setattr(sys, "argv", ["setup.py"])
    assert setup.main() == 1
    said = capsys.readouterr().err.strip()
    assert words in said and len(said.splitlines()) == 1 and "make setup" in said


def test_a_full_disk_is_refused_before_anything_is_made(setup, monkeypatch):
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(setup.SetupError, match="0 MB of disk are free"):
        setup.make_venv()
    assert not setup.VENV.exists()


def test_an_old_python_is_refused_with_advice(setup, monkeypatch):
    monkeypatch.setattr(setup.sys, "version_info", (3, 10, 4))
    with pytest.raises(setup.SetupError, match=r"3\.11 or newer.*PYTHON="):
        setup.make_venv()


def test_licences():
    assert "Apache License" in (ROOT / "LICENSE").read_text()[:200]
    assert "CC BY 4.0" in (ROOT / "docs" / "LICENSE-PROSE.md").read_text()
