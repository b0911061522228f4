"""Odd files and odd texts at the desk: pipes, two files of one exercise, giants, ANSI codes."""

import os

import pytest
from desk_course import children, course, right_text, wrong_text

from exercises.desk import answers, help, magic, progress, words
from exercises.desk.checking import check
from exercises.grading.wire import visible


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
def test_a_pipe_is_no_answer_and_nobody_waits_for_it(course):
    path = answers.path_of("0.2")
    path.unlink()
    os.mkfifo(path)
    report = check("0.2").report
    assert report.message_id == "file" and "is not a file" in report.message


def test_a_giant_is_not_graded_and_a_fresh_cell_leaves_it(course):
    path, giant = answers.path_of("0.2"), right_text("0.2") + "#" + "x" * (1 << 20)
    path.write_text(giant)
    found = check("0.2")
    assert found.report.message_id == "file" and "longer than 1 MiB" in found.report.message
    assert found.lines()[0][1].endswith("its file cannot be read")
    assert "untouched" in magic.keep("0.2", "\n")[0]
    assert path.read_text() == giant


def test_two_files_of_one_exercise_are_named_and_none_is_written(course, children):
    path = answers.path_of("0.2")
    path.write_text(right_text("0.2"))
    copy = path.with_name("ex2_copy.py")
    copy.write_text(wrong_text("0.2", "divides"))
    before = sorted(path.parent.glob("ex2_*"))
    for act in (
        lambda: check("0.2", children),
        lambda: magic.keep("0.2", "x = 1\n"),
        lambda: help.reset("0.2"),
    ):
        with pytest.raises(ValueError, match="ex2_copy.py and ex2_scale_rows.py: keep one"):
            act()
    assert sorted(path.parent.glob("ex2_*")) == before
    assert path.read_text() == right_text("0.2")
    copy.unlink()
    assert check("0.2", children).report.ok


def test_a_missing_file_says_how_it_comes_back(course, children):
    answers.path_of("0.2").unlink()
    with pytest.raises(ValueError, match="is missing: python -m exercises reset 0.2"):
        check("0.2", children)
    assert answers.path_of("0.2").name == "ex2_scale_rows.py"


ODD = "def scale_rows(weights, scale):\n    print('{0}' + 400 * 'y')\n    raise ValueError('{0}')\n"


@pytest.mark.parametrize("letters", [r"\x1b[2J", r"\ud800", r"\x00", r"\x9b31m", r"\x07한"])
def test_no_answer_speaks_to_the_terminal_or_stops_the_note(course, children, letters):
    answers.path_of("0.2").write_text(ODD.format(letters), encoding="utf-8")
    found = check("0.2", children)
    text = words.as_text(found.lines())
    assert found.report.status == "error" and "ValueError" in text
    assert visible(text) == text and text.encode() and max(map(len, text.splitlines())) < 400
    assert found.entry["attempts"] == 1 and progress.load()["exercises"]["0.2"]["tried"]
    assert visible("한글, é\n\tx") == "한글, é\n\tx"
