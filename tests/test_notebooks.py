"""Every notebook: equal to its source, clean, and it runs in fast mode; and the builder itself."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import build_notebooks as builder  # noqa: E402
import notebook_cells  # noqa: E402

SOURCES = builder.sources([])
FAST_SECONDS = 40  # an aim to look at, not a test: a busy machine is no fault

SMALL = """# ---
# jupyter:
#   kernelspec: {name: other, display_name: Other, language: python}
# ---

# %% [markdown] id="00-question"
# # A question?

# %%
import os
print("fast" if os.environ.get("MINILLM_FAST") else "full")
print(os.getcwd())

# %%
from IPython.display import display
display({"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}, raw=True)
1 + 1
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A notebooks/ folder of its own with one small source."""
    monkeypatch.setattr(builder, "NOTEBOOKS", tmp_path)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "00_small.py").write_text(SMALL)
    return tmp_path


def test_there_is_a_first_notebook():
    assert any(s.name.startswith("00_") for s in SOURCES)


def test_no_notebook_without_a_source():
    stems = {s.stem for s in SOURCES}
    assert {p.stem for p in (ROOT / "notebooks").glob("*.ipynb")} == stems


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.stem)
def test_notebook_is_what_its_source_says(source):
    assert builder.problems(source) == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.stem)
def test_notebook_runs_in_fast_mode(source):
    began = time.perf_counter()
    builder.run(source, fast=True)
    print(f"{source.stem}: {time.perf_counter() - began:.0f} s (aim: {FAST_SECONDS} s)")


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.stem)
def test_source_runs_as_a_plain_script(source, tmp_path):
    """From a folder that has nothing to do with the course, and without Jupyter."""
    env = {**os.environ, "MINILLM_FAST": "1", "MINILLM_PROGRESS": str(tmp_path)}
    env |= {"PYTHONIOENCODING": "utf-8", "MPLBACKEND": "Agg"}
    command = [sys.executable, str(source)]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, encoding="utf-8",
        timeout=280,  # a limit against hanging, below pytest's own, so that no process stays
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_fast_mode_runs_and_writes_nothing(folder, capsys):
    builder.build(folder / "source" / "00_small.py", fast=True)
    assert list(folder.glob("*.ipynb*")) == []
    notebook = builder.run(folder / "source" / "00_small.py", fast=True)
    assert notebook.cells[1].outputs[0].text == f"fast\n{folder}\n"


def test_no_kernel_stays_behind(folder):
    (folder / "source" / "00_small.py").write_text("# %%\nimport os\nprint(os.getpid())\n")
    notebook = builder.run(folder / "source" / "00_small.py", fast=True)
    assert not psutil.pid_exists(int(notebook.cells[0].outputs[0].text))


def test_a_built_notebook_is_clean_and_the_same_twice(folder):
    source = folder / "source" / "00_small.py"
    builder.build(source, fast=False)
    assert builder.problems(source) == []
    first = (folder / "00_small.ipynb").read_bytes()
    notebook = nbformat.read(folder / "00_small.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[1].outputs[0].text.startswith("full\n")
    assert [o.output_type for o in notebook.cells[2].outputs] == ["execute_result"]
    assert notebook.metadata.kernelspec.name == "python3"
    builder.build(source, fast=False)
    assert (folder / "00_small.ipynb").read_bytes() == first


def test_an_edit_changes_only_its_own_cell_id(folder):
    source = folder / "source" / "00_small.py"
    before = [cell.id for cell in builder.read_source(source).cells]
    source.write_text(SMALL.replace("A question?", "Another?").replace("1 + 1", "1 + 2"))
    after = [cell.id for cell in builder.read_source(source).cells]
    assert before[:2] == after[:2] and before[2] != after[2]
    assert before[0] == "00-question", "a translation hangs on a text cell's id"


def test_equal_cells_have_different_ids(folder):
    source = folder / "source" / "00_small.py"
    source.write_text("# %%\n1\n\n# %%\n1\n")
    assert len({cell.id for cell in builder.read_source(source).cells}) == 2


@pytest.mark.parametrize(
    "text, said",
    [
        ("# %% [markdown]\n# Words", "no id"),
        ('# %% [markdown] id="00-a"\n# A\n\n# %% [markdown] id="00-a"\n# B', "two text cells"),
        ('# %% [markdown] id="01-a"\n# A', "must be like 00-"),
    ],
)
def test_a_text_cell_needs_an_id_of_its_own(folder, text, said):
    source = folder / "source" / "00_small.py"
    source.write_text(text)
    with pytest.raises(builder.NotebookError, match=said):
        builder.build(source, fast=False)
    builder.write(builder.read_source(source), folder / "00_small.ipynb")
    assert said in "".join(builder.problems(source))


def test_special_cells_are_filled(folder):
    source = folder / "source" / "00_small.py"
    source.write_text("# %% bootstrap\n\n# %% exercise 0.2\n\n# %%\n1\n")
    first, second, third = builder.read_source(source).cells
    assert (first.id, second.id, third.source) == ("bootstrap", "exercise-0-2", "1")
    assert notebook_cells.ADDRESS in first.source and "bootstrap.start(" in first.source
    compile(first.source, "bootstrap", "exec")
    title, _, text = second.source.partition("\n")
    assert title == "%%exercise 0.2"
    assert text == notebook_cells.spec.fresh_text("0.2").rstrip()
    compile(source.read_text(), "script", "exec")


@pytest.mark.parametrize(
    "text, said",
    [
        ("# %% exercise 0.99\n", "no exercise 0.99"),
        ("# %% exercise 99.1\n", "no chapter 99"),
        ("# %% Exercise 0.2\n", "write `# %% exercise"),
        ("# %% exercise 0.2\nprint(1)\n", "must be empty"),
        ("# %% bootstrap\nprint(1)\n", "must be empty"),
    ],
)
def test_a_special_cell_that_cannot_be_filled_is_refused(folder, text, said):
    source = folder / "source" / "00_small.py"
    source.write_text(text)
    with pytest.raises(builder.NotebookError, match=said):
        builder.read_source(source)


def test_check_finds_an_exercise_that_has_changed(folder, monkeypatch):
    source, path = folder / "source" / "00_small.py", folder / "00_small.ipynb"
    source.write_text("# %% exercise 0.2\n")
    builder.write(builder.read_source(source), path)
    assert "not what 00_small.py says" not in "".join(builder.problems(source))
    monkeypatch.setattr(notebook_cells.spec, "fresh_text", lambda _id: "another text")
    assert "not what 00_small.py says" in "".join(builder.problems(source))


def test_a_build_has_a_progress_folder_of_its_own(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "the learner's"))
    source = folder / "source" / "00_small.py"
    source.write_text("# %%\nimport os\nprint(os.environ['MINILLM_PROGRESS'])\n")
    used = builder.run(source, fast=True).cells[0].outputs[0].text.strip()
    assert used != str(tmp_path / "the learner's") and not Path(used).exists()
    assert os.environ["MINILLM_PROGRESS"] == str(tmp_path / "the learner's")


def test_two_at_a_time(folder, monkeypatch, capsys):
    """Two kernels that wait for each other: one after the other would wait in vain."""
    wait = "# %%\nimport pathlib, time\npathlib.Path('{0}.here').touch()\n"
    wait += "for _ in range(1200):\n    if pathlib.Path('{1}.here').exists():\n        break\n"
    wait += "    time.sleep(0.1)\nelse:\n    raise TimeoutError\n"
    (folder / "source" / "00_small.py").write_text(wait.format("a", "b"))
    (folder / "source" / "01_small.py").write_text(wait.format("b", "a"))
    monkeypatch.setattr(sys, "argv", ["build_notebooks.py", "--fast", "-j", "2"])
    assert builder.main() == 0
    assert "00_small: " in (said := capsys.readouterr().out) and "01_small: " in said


@pytest.mark.skipif(os.name == "nt", reason="signals as on POSIX")
def test_ctrl_c_stops_the_kernel_and_writes_nothing(folder, tmp_path):
    """The rest of a long cell is not waited for; one line, exit code 130."""
    mark = tmp_path / "kernel"
    cell = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(200)"
    (folder / "source" / "00_small.py").write_text(f"# %%\n{cell}\n")
    code = f"""
import sys
sys.path.insert(0, {str(ROOT / "tools")!r})
import build_notebooks as b
b.NOTEBOOKS = b.Path({str(folder)!r})
sys.exit(b.main())
"""
    started = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + 120
        while not (mark.exists() and mark.read_text()):
            assert time.monotonic() < end and started.poll() is None
            time.sleep(0.1)
        started.send_signal(signal.SIGINT)
        error = started.communicate(timeout=60)[1]
    finally:
        started.kill()
    assert started.returncode == 130
    assert "stopped: what was not ready is not written" in error and "Traceback" not in error
    assert not list(folder.glob("*.ipynb*"))
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_an_error_in_a_cell_fails_and_writes_nothing(folder, monkeypatch, capsys):
    (folder / "source" / "00_small.py").write_text("# %%\n1 / 0\n")
    monkeypatch.setattr(sys, "argv", ["build_notebooks.py"])
    assert builder.main() == 1
    said = capsys.readouterr().err
    assert "00_small.py" in said and "ZeroDivisionError" in said
    assert list(folder.glob("*.ipynb*")) == []


def test_check_finds_what_is_wrong(folder, monkeypatch, capsys):
    source, path = folder / "source" / "00_small.py", folder / "00_small.ipynb"
    monkeypatch.setattr(sys, "argv", ["build_notebooks.py", "--check"])
    assert builder.main() == 1 and "missing" in capsys.readouterr().err
    builder.write(builder.read_source(source), path)
    assert builder.main() == 1 and "not run" in capsys.readouterr().err
    builder.build(source, fast=False)
    assert builder.main() == 0
    source.write_text(SMALL.replace("1 + 1", "1 + 2"))
    assert builder.main() == 1 and "not what 00_small.py says" in capsys.readouterr().err
    source.write_text(SMALL)
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["widgets"] = {"state": {}}
    nbformat.write(notebook, path)
    assert "widget state" in builder.problems(source)[0]


def test_a_notebook_too_large_is_refused(folder, monkeypatch):
    monkeypatch.setattr(builder, "MAX_BYTES", 100)
    with pytest.raises(builder.NotebookError, match="more than 100"):
        builder.build(folder / "source" / "00_small.py", fast=False)
    assert list(folder.glob("*.ipynb*")) == []
