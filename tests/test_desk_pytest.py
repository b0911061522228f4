"""`pytest exercises`: the learner's items, from any folder, without Python's tracebacks."""

import re
from pathlib import Path

import pytest
from desk_course import command, course, right_text

from exercises.desk import answers
from exercises.grading import spec

QUIET = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


def test_a_fresh_course_fails_and_names_every_file(course, command):
    done = command(*QUIET, str(course), cwd=Path("/"))
    assert done.returncode == 1, done.stdout + done.stderr
    for exercise_id in spec.all_ids():
        assert answers.shown(answers.path_of(exercise_id)) in done.stdout
    assert f"{len(spec.all_ids())} not started" in done.stdout  # hunts too, though they run
    assert "conftest.py" not in done.stdout and "NotRight" not in done.stdout
    failed = int(re.search(r"(\d+) failed", done.stdout)[1])
    assert failed == len(spec.all_ids()) and "passed" not in done.stdout.splitlines()[-1]


def test_our_own_answers_pass_two_at_a_time(course, command):
    done = command(*QUIET, "-n", "2", str(course), "--answers=reference")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(spec.all_ids())} passed" in done.stdout


def test_one_file_one_chapter_and_a_missing_file(course, command):
    answers.save("0.2", right_text("0.2"))
    answers.path_of("0.3").unlink()
    done = command(*QUIET, str(answers.path_of("0.2")))
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
    done = command(*QUIET, str(course / "ch00_start"))
    assert "1 passed" in done.stdout and "3 failed" in done.stdout, done.stdout
    assert "0.3" in done.stdout and "ex3_*.py, is missing" in done.stdout


def test_bare_pytest_is_the_project_s():
    text = (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text()
    assert 'testpaths = ["tests"]' in text


@pytest.mark.parametrize("answer", ["nobody", ""])
def test_unknown_answers_are_a_usage_error(course, command, answer):
    done = command(*QUIET, str(course), f"--answers={answer}")
    assert done.returncode == 4 and "learner" in done.stderr
