"""%%exercise: the cell becomes the file and is graded; no answer is lost, no error raised."""

import os
import subprocess
import sys

import pytest
from desk_course import children, course, right_text, wrong_text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import exercises
from exercises.desk import answers, help, magic, progress
from exercises.grading import spec


@pytest.fixture
def cell(course, children, monkeypatch):
    """A function that runs the magic -> what a reader without HTML sees."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda what: shown.append(what))
    monkeypatch.setattr(magic, "children", lambda: children)

    def run(line, text=None):
        shown.clear()
        assert magic.exercise(line, text) is None
        assert all("<script" not in one._repr_html_() for one in shown)
        return "\n".join(map(repr, shown))

    return run


def test_a_cell_is_saved_and_graded(cell):
    said = cell("0.2", right_text("0.2"))
    assert said.startswith("0.2 One scale a row: right") and "saved in" in said
    assert answers.read("0.2").decode() == right_text("0.2")
    said = cell("0.2", wrong_text("0.2", "divides"))
    assert "not right yet" in said and "Yours does this: " in said and "kept" in said
    assert [p.read_text() for p in answers.backups("0.2")] == [right_text("0.2")]


def test_a_fresh_cell_never_overwrites_an_answer(cell):
    assert "not started" in cell("0.2", spec.fresh_text("0.2"))
    answers.save("0.2", right_text("0.2"))
    for text in (spec.fresh_text("0.2"), spec.fresh_text("0.2") + "\n\n", "", "  \n"):
        said = cell("0.2", text)
        assert "right" in said and "your answer in" in said
        assert answers.read("0.2").decode() == right_text("0.2")


def test_a_fresh_hunt_of_another_student_is_fresh(cell):
    progress.change(lambda data: data.update(student="kim"))
    answers.save("2.7", right_text("2.7"))
    assert "right" in cell("2.7", spec.fresh_text("2.7", ""))
    assert answers.read("2.7").decode() == right_text("2.7")


def test_a_broken_cell_is_saved_and_reported(cell):
    said = cell("0.2", "def scale_rows(:\n")
    assert "not valid Python" in said and answers.read("0.2") == b"def scale_rows(:\n"
    assert cell("0.2", "\ud800") is not None  # half a character, as a browser can send


def test_a_cell_of_something_else_is_not_saved(cell):
    answers.save("0.2", right_text("0.2"))
    said = cell("0.2", "x = 1\n")
    assert "makes no scale_rows" in said and "not saved" in said
    assert answers.read("0.2").decode() == right_text("0.2") and not answers.backups("0.2")


def test_every_kind_of_line(cell, capsys):
    assert "did you mean" in cell("9.9", "x")
    assert "%%exercise 4.2" in cell("", "x")
    assert "%%" not in cell("") and "%exercise 4.2" in cell("")
    assert "not started" in cell("0.2")
    cell("hint 0.2")
    assert "hint 1 of 3" in capsys.readouterr().out
    answers.save("0.4", "answer = 3\n")
    assert "0.4" in cell("0.4", "answer = {'fp32': 1, 'fp16': 1, 'int4': 1}")


def test_a_missing_file_comes_back(cell):
    path = answers.path_of("0.2")
    path.unlink()
    cell("0.2", spec.fresh_text("0.2"))
    assert answers.is_fresh("0.2", answers.read("0.2").decode())


def test_a_full_disk_is_said(cell, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    answers.save("0.2", "mine = 1\n")
    monkeypatch.setattr(answers.files, "write", full)
    assert "still in the cell" in cell("0.2", right_text("0.2"))
    assert answers.read("0.2") == b"mine = 1\n"


def test_a_place_that_cannot_be_written_is_said_in_words(cell, monkeypatch, tmp_path):
    answers.save("0.2", "mine = 1\n")
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "taken" / "here"))
    for text in (right_text("0.2"), None):
        said = cell("0.2", text)
        assert "set MINILLM_PROGRESS to a folder" in said and "[Errno" not in said
    assert answers.read("0.2") == b"mine = 1\n"


def test_a_student_is_told_the_own_numbers(cell):
    progress.change(lambda data: data.update(student="kim"))
    asked = spec.fresh_text("0.4", "kim")
    other = next(s for s in map(str, range(50)) if spec.fresh_text("0.4", s) != asked)
    said = cell("0.4", spec.fresh_text("0.4", other).replace("answer = None", "answer = 1"))
    assert "your own question (student kim)" in said
    assert "your own question" not in cell("0.4", asked.replace("answer = None", "answer = 1"))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(["", "a = 1\n", "b = 2\n", "FRESH"]) | st.text(max_size=5)))
def test_whatever_cells_are_run_every_answer_is_somewhere(course, cells):
    for text in cells:
        magic.keep("0.2", spec.fresh_text("0.2") if text == "FRESH" else text)
    kept = {answers.read("0.2")} | {p.read_bytes() for p in answers.backups("0.2")}
    for text in cells:
        if text.strip() and text != "FRESH":
            assert text.encode("utf-8", "surrogatepass") in kept


def test_colab_forgets_and_the_drive_does_not(cell, course, capsys, monkeypatch):
    cell("0.2", right_text("0.2"))
    cell("0.3", f"{spec.get('0.3').entry} = 1\n")
    cell("0.1", f"{spec.get('0.1').entry} = 1\n")
    help.reset("0.1")
    for exercise_id in ("0.2", "0.3"):  # a new clone
        answers.files.write(answers.path_of(exercise_id), spec.fresh_text(exercise_id).encode())
    answers.files.write(answers.path_of("0.3"), b"begun again = 1\n")
    exercises.load_ipython_extension(Shell())
    assert "your answers to 0.2\n" in capsys.readouterr().out
    assert answers.read("0.2").decode() == right_text("0.2")
    assert answers.state("0.2", progress.load()) == "solved"
    assert answers.read("0.3") == b"begun again = 1\n"
    assert answers.is_fresh("0.1", answers.read("0.1").decode())
    monkeypatch.delenv("MINILLM_PROGRESS")
    assert answers.mirror() is None and answers.bring_back() == []


SESSION = """
from IPython.testing.globalipapp import start_ipython
shell = start_ipython()
shell.run_cell("import exercises")
fresh = open("exercises/ch00_start/fresh/ex2.py").read()
for cell in ("%%exercise 0.2\\n" + fresh,
             "%%exercise 0.2\\nscale_rows = lambda weights, scale: weights * scale[:, None]",
             "%exercise 0.2", "%exercise status 0.2", "%load_ext exercises"):
    result = shell.run_cell(cell)
    assert result.success, cell
"""


def test_in_a_real_ipython(course, tmp_path):
    env = os.environ | {"PYTHONPATH": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    done = subprocess.run(
        [sys.executable, "-c", SESSION], cwd=tmp_path, env=env, capture_output=True, text=True,
        timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    heads = [line for line in done.stdout.splitlines() if line.startswith("0.2 One scale")]
    assert [h.split(": ")[1] for h in heads[:3]] == ["not started", "right", "right"], done.stdout
    assert "solved" in heads[3]


class Shell:
    """Counts what is registered."""

    def __init__(self):
        self.names = []

    def register_magic_function(self, function, kind, name):
        self.names.append((kind, name))


def test_the_extension_registers_the_magic(course):
    shell = Shell()
    exercises.load_ipython_extension(shell)
    assert shell.names == [("line_cell", "exercise")]
