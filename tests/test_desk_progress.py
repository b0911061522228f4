"""Progress and answers survive everything: two processes, kills, full disks, damaged files."""

import errno
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from desk_course import course
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exercises.desk import answers, carry, checking, files, help, magic, progress
from exercises.grading import spec

SLOW_OK = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
BUMP = """
import sys
from exercises.desk import progress
def edit(data):
    one = progress.entry(data, "0.2")
    one["attempts"] += 1
    progress.entry(data, sys.argv[1])["failed"] += 1
for _ in range(int(sys.argv[2])):
    progress.change(edit)
"""
BINARY = st.binary(max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["exercises", "student", "0.2", "solved", "tried"]), inner
        )
    ),
    max_leaves=8,
)


def python(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=progress.spec.ROOT.parent,
        stdout=subprocess.PIPE,
    )  # fmt: skip


def test_two_processes_lose_nothing_of_each_other(course):
    both = [python(BUMP, name, "60") for name in ("0.1", "0.3")]
    assert [p.wait(120) for p in both] == [0, 0]
    kept = progress.load()["exercises"]
    assert (kept["0.2"]["attempts"], kept["0.1"]["failed"], kept["0.3"]["failed"]) == (120, 60, 60)


def test_a_kill_leaves_the_old_or_the_new_and_no_lock(course):
    process = python(BUMP, "0.1", "100000")
    end = time.monotonic() + 60
    while progress.load()["exercises"].get("0.1", {}).get("failed", 0) < 5:
        assert time.monotonic() < end
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    before = progress.load()["exercises"]["0.2"]["attempts"]
    assert before >= 5
    data = progress.change(lambda data: progress.entry(data, "0.2").update(solved=True))
    assert data["exercises"]["0.2"]["attempts"] == before


@SLOW_OK
@given(st.one_of(BINARY, VALUES.map(lambda v: json.dumps(v).encode())))
def test_a_damaged_file_is_set_aside_or_read(course, capsys, damage):
    folder = progress.folder()
    folder.mkdir(exist_ok=True)
    for old in folder.glob("progress*"):
        old.unlink()
    (folder / "progress.json").write_bytes(damage)
    data = progress.load()
    assert progress.checked(json.loads(json.dumps(data))) == data
    set_aside = list(folder.glob("progress.damaged-*.json"))
    assert set_aside or (folder / "progress.json").read_bytes() == damage
    if set_aside:
        assert set_aside[0].read_bytes() == damage
        assert "damaged" in capsys.readouterr().err
    progress.change(lambda d: progress.entry(d, "0.1").update(solved=True))
    assert progress.load()["exercises"]["0.1"]["solved"] is True


@SLOW_OK
@given(st.lists(st.tuples(st.sampled_from(["0.1", "0.2"]), st.text(max_size=8)), max_size=8))
def test_no_text_is_ever_lost(course, saves):
    for exercise_id, text in saves:
        answers.save(exercise_id, text)
        files.write(answers.path_of(exercise_id), answers.read(exercise_id))  # an editor saves it
    for exercise_id, text in saves:
        here = {answers.read(exercise_id)}
        here |= {p.read_bytes() for p in answers.backups(exercise_id)}
        assert text.encode("utf-8", "surrogatepass") in here


def test_a_full_disk_changes_nothing(course, monkeypatch):
    answers.save("0.2", "mine = 1\n")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    for text in ("other = 2\n", spec.fresh_text("0.2")):
        with pytest.raises(OSError, match="No space"):
            answers.save("0.2", text)
        assert answers.read("0.2") == b"mine = 1\n"
    left = [p for p in course.rglob("*.part")] + [*progress.folder().rglob("*.part")]
    assert not left


def test_what_cannot_be_read_is_not_overwritten(course):
    path = answers.path_of("0.2")
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="not overwritten"):
        answers.save("0.2", "x = 1\n")


def test_a_link_stays_a_link_and_a_mode_stays(course, tmp_path):
    path, real = answers.path_of("0.2"), tmp_path / "elsewhere.py"
    path.rename(real)
    path.symlink_to(real)
    os.chmod(real, 0o664)
    answers.save("0.2", "x = 1\n")
    assert path.is_symlink() and real.read_text() == "x = 1\n"
    assert real.stat().st_mode & 0o777 == 0o664


@pytest.mark.parametrize("target", ["notes.txt", "exercises/grading/judge.py"])
def test_a_link_to_what_is_no_answer_is_refused(course, tmp_path, target):
    path, real = answers.path_of("0.4"), tmp_path / target
    real.write_text("years of work\n")
    path.unlink()
    path.symlink_to(real)
    acts = (
        lambda: help.reset("0.4"),
        lambda: answers.save("0.4", b"x = 1\n"),
        lambda: magic.keep("0.4", "answer = 1\n"),
        lambda: answers.personalise("kim"),
    )
    for act in acts:
        with pytest.raises(OSError, match="ex4_model_bytes.py is a link to .*: remove the link"):
            act()
    assert real.read_text() == "years of work\n" and progress.student() == ""


def test_unpack_refuses_a_foreign_link_before_it_writes_anything(course, tmp_path):
    for exercise_id in ("0.2", "0.4"):
        answers.save(exercise_id, "theirs = 1\n")
    carry.pack(tmp_path / "p.zip")
    answers.save("0.2", "mine = 1\n")
    path, real = answers.path_of("0.4"), tmp_path / "thesis.tex"
    path.rename(real)
    path.symlink_to(real)
    with pytest.raises(OSError, match="remove the link"):
        carry.unpack(tmp_path / "p.zip")
    assert answers.read("0.2") == b"mine = 1\n" and real.read_text() == "theirs = 1\n"


def test_states(course):
    state = lambda: answers.state("0.2", progress.load())
    assert state() == "not started"
    answers.save("0.2", "x = 1\n")
    assert state() == "changed"
    mark = progress.sha(b"x = 1\n")
    progress.change(lambda d: progress.entry(d, "0.2").update(sha=mark, solved=True))
    assert state() == "solved"
    progress.change(lambda d: progress.entry(d, "0.2").update(solved=False))
    assert state() == "failing"
    progress.change(lambda d: progress.entry(d, "0.2").update(parked=True))
    assert state() == "parked"
    progress.change(lambda d: progress.entry(d, "0.2").update(parked=False))
    answers.path_of("0.2").unlink()
    assert state() == "missing"


@pytest.mark.parametrize("exercise_id", ["0.1", "0.4", "2.7", "2.9"])
@pytest.mark.parametrize("student", ["", "kim", "학생"])
def test_fresh_for_every_student_and_nothing_else(course, exercise_id, student):
    text = spec.fresh_text(exercise_id, student)
    assert answers.is_fresh(exercise_id, text)
    assert answers.is_fresh(exercise_id, text.replace("\n", "  \r\n") + "\n\n")
    assert not answers.is_fresh(exercise_id, text + "\nx = 1")
    assert not answers.is_fresh(exercise_id, text.rstrip().rpartition("\n")[0])


def test_every_file_of_a_fresh_clone_is_fresh():
    """What `status` would call "changed, not graded" before anybody has begun."""
    for student in ("", "kim"):
        told = {i: spec.fresh_text(i, student) for i in spec.all_ids()}
        assert [i for i, text in told.items() if not answers.is_fresh(i, text)] == []
        assert not answers.is_fresh("5.4", told["5.4"] + "\nx = 1")


def test_code_in_the_place_of_a_table_is_no_fresh_text():
    """A gap that may hold several lines must not swallow an answer."""
    head, end = spec.fresh_text("11.6", "").split("Write for example")
    code = head + '"""\nx = 1\n"""\n\nWrite for example' + end
    assert not answers.is_fresh("11.6", code)


def test_a_text_without_an_answer_is_no_try(course):
    text = spec.fresh_text("0.4", "") + "# I am still thinking\n"
    answers.save("0.4", text)
    entry = checking.check("0.4").entry
    assert (entry["attempts"], entry["failed"], entry["tried"]) == (0, 0, [])
    assert answers.state("0.4", progress.load()) == "not started"
    answers.save("0.4", text.replace("= None", "= 1"))
    assert checking.check("0.4").entry["attempts"] == 1
    assert answers.state("0.4", progress.load()) == "failing"


def test_a_right_answer_that_was_emptied_and_taken_back_is_solved(course):
    text = spec.fresh_text("0.4", "")
    ours = spec.drive("0.4", spec.reference("0.4"), spec.cases("0.4", "")[0])
    right, emptied = text.replace("answer = None", f"answer = {ours}"), text + "# again\n"
    answers.save("0.4", right)
    assert checking.check("0.4").entry["solved"]
    answers.save("0.4", emptied)
    assert not checking.check("0.4").entry["solved"]  # what notebooks ask before they use it
    assert answers.state("0.4", progress.load()) == "not started"
    answers.save("0.4", right)
    assert answers.state("0.4", progress.load()) == "solved"
