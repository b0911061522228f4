"""A notebook's first cell: it finds or fetches the course, on Colab and anywhere else."""

import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from minillm import bootstrap, repository
from tests.test_layout import FORGET_OURS

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import build_notebooks as builder  # noqa: E402
import notebook_cells  # noqa: E402

CELL = notebook_cells.BOOTSTRAP.replace("{address}", repository.ADDRESS)
COLAB = "import sys, types; sys.modules['google.colab'] = types.ModuleType('google.colab')\n"
SAY = "\nimport minillm, exercises; print(minillm.__file__); print(exercises.__file__)"


def run_cell(code: str, cwd: Path, before: str = FORGET_OURS, cell: str = CELL, times: int = 1):
    """Run the cell in a process of its own, in which nothing of the course is installed."""
    text = before + (cell + "\n") * times + code
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, "-c", text]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, encoding="utf-8",
        env={**env, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A git repository with the course in it, as a clone finds it on the internet."""
    folder = tmp_path_factory.mktemp("origin") / "course"
    ignore = shutil.ignore_patterns("__pycache__", ".progress", ".backups")
    for name in ("minillm", "exercises", "kernels"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(folder)]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *command], check=True)
    return folder.as_uri()


@pytest.mark.parametrize("place", [".", "notebooks", "notebooks/source"])
def test_the_course_is_found_from_its_own_folders(place):
    done = run_cell(SAY, ROOT / place)
    assert done.returncode == 0, done.stderr
    line, package, exercises = done.stdout.splitlines()
    assert Path(package) == ROOT / "minillm" / "__init__.py"
    assert Path(exercises) == ROOT / "exercises" / "__init__.py"
    assert "torch 2" in line and ("CPU" in line or "GPU" in line)


def test_an_installed_course_is_found_from_any_folder(tmp_path):
    done = run_cell(SAY, tmp_path, before="")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.splitlines()[1]) == ROOT / "minillm" / "__init__.py"


def test_elsewhere_it_says_what_to_do(tmp_path):
    done = run_cell(SAY, tmp_path)
    assert done.returncode == 1 and "Open this notebook inside the course's folder" in done.stderr


def test_on_colab_it_clones_once(tmp_path, address):
    cell = CELL.replace(repository.ADDRESS, address)
    assert cell != CELL
    mark = "(root / 'learner.txt').write_text('mine')\n"  # a second clone would lose it
    done = run_cell(mark + cell + SAY, tmp_path, FORGET_OURS + COLAB, cell)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.splitlines()[-2]) == tmp_path / "minillm" / "minillm" / "__init__.py"
    assert (tmp_path / "minillm" / "learner.txt").read_text() == "mine"
    again = run_cell(SAY, tmp_path, FORGET_OURS + COLAB, cell.replace("file://", "file:///gone"))
    assert again.returncode == 0, "a kernel that starts again needs no network"


def test_on_colab_without_network_the_error_is_gits(tmp_path):
    cell = CELL.replace(repository.ADDRESS, (tmp_path / "nothing").as_uri())
    done = run_cell(SAY, tmp_path, FORGET_OURS + COLAB, cell)
    assert (
        done.returncode == 1 and "does not" in done.stderr and "CalledProcessError" in done.stderr
    )


@pytest.fixture
def colab(monkeypatch, tmp_path):
    """A faked Colab -> the commands that were run and the folders that were mounted."""
    seen = types.SimpleNamespace(commands=[], constraints=[], mounted=[])

    def command(arguments, check):
        seen.commands.append(arguments)
        seen.constraints.append(Path(arguments[arguments.index("-c") + 1]).read_text())

    google, fake = types.ModuleType("google"), types.ModuleType("google.colab")
    fake.drive = types.SimpleNamespace(mount=seen.mounted.append)
    google.colab = fake
    monkeypatch.setitem(sys.modules, "google", google)
    monkeypatch.setitem(sys.modules, "google.colab", fake)
    monkeypatch.setattr(bootstrap.subprocess, "run", command)
    monkeypatch.setattr(bootstrap, "DRIVE", tmp_path / "drive")
    monkeypatch.delenv("MINILLM_PROGRESS", raising=False)
    yield seen
    os.environ.pop("MINILLM_PROGRESS", None)


def hide(monkeypatch, *names):
    """Let these modules look as if they were not installed."""
    real = bootstrap.importlib.util.find_spec
    fake = lambda name, *rest: None if name in names else real(name, *rest)
    monkeypatch.setattr(bootstrap.importlib.util, "find_spec", fake)


def test_colab_gets_only_what_it_has_not(colab, monkeypatch, capsys):
    hide(monkeypatch, "gguf", "rich")
    bootstrap.start(ROOT)
    (command,) = colab.commands
    assert command[-2:] == ["gguf>=0.17", "rich>=13"]
    assert re.search(r"^torch==2\.\d+\.\d+$", colab.constraints[0], re.M)
    assert re.search(r"^numpy==", colab.constraints[0], re.M)
    assert colab.mounted == [] and "MINILLM_PROGRESS" not in os.environ
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_colab_with_everything_installs_nothing(colab):
    before = list(sys.path)
    bootstrap.start(ROOT)
    bootstrap.start(ROOT)
    assert colab.commands == [] and sys.path == before, "the folder was on the path already"


def test_drive_keeps_the_progress(colab, tmp_path):
    bootstrap.start(ROOT, drive=True)
    folder = tmp_path / "drive" / "MyDrive" / "minillm"
    assert colab.mounted == [str(tmp_path / "drive")] and folder.is_dir()
    assert os.environ["MINILLM_PROGRESS"] == str(folder) == str(repository.progress_folder())


def test_at_home_nothing_is_installed_or_mounted(monkeypatch, capsys):
    hide(monkeypatch, "gguf")
    monkeypatch.setattr(bootstrap.subprocess, "run", None)
    bootstrap.start(ROOT, drive=True)
    assert "MINILLM_PROGRESS" not in os.environ or "Drive" not in os.environ["MINILLM_PROGRESS"]


def test_what_colab_needs_is_what_the_project_needs():
    """One list in pyproject.toml, one here: they must not drift apart."""
    text = (ROOT / "pyproject.toml").read_text()
    wanted = set(
        re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*?)^\]", text, re.M | re.S)[1])
    )
    wanted = {w for w in wanted if re.match(r"[a-z_0-9]+", w)[0] not in bootstrap.KEPT}
    assert wanted <= set(bootstrap.NEEDED.values())
    assert all(f'"{spec}"' in text for spec in bootstrap.NEEDED.values())
    assert not any(name in spec for spec in bootstrap.NEEDED.values() for name in bootstrap.KEPT)


def test_the_address_stands_in_one_place():
    """In source and in what people read; notebooks are built from it."""
    found = [
        path.relative_to(ROOT).as_posix()
        for folder in (
            "minillm",
            "tools",
            "exercises",
            "docs",
            "notebooks/source",
            "tests",
            "kernels",
        )
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md") and repository.ADDRESS in path.read_text(encoding="utf-8")
    ]
    assert found == ["minillm/repository.py"]


def test_the_cell_is_short_and_plain_python():
    compile(CELL, "cell", "exec")
    assert len(CELL.splitlines()) <= 25 and max(map(len, CELL.splitlines())) <= 100


def test_in_a_kernel_the_magic_works_and_no_answer_changes(tmp_path, monkeypatch):
    """The exercise cell of an untouched notebook: graded as not started, nothing written."""
    monkeypatch.setattr(builder, "NOTEBOOKS", ROOT / "notebooks")
    source = tmp_path / "00_small.py"
    source.write_text("# %% bootstrap\n\n# %% bootstrap\n\n# %% exercise 0.2\n")
    answers = {p: p.read_bytes() for p in (ROOT / "exercises").glob("ch*/ex*.py")}
    notebook = builder.run(source, fast=True)
    first, again, exercise = [cell.outputs for cell in notebook.cells]
    assert "torch" in first[0].text and again == first, "running it twice says the same"
    assert "0.2" in exercise[0].data["text/plain"]
    changed = [str(p) for p, text in answers.items() if p.read_bytes() != text]
    assert changed == []
