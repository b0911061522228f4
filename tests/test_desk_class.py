"""A class: hostile submissions harm nobody, reports are readable, a killed run goes on."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from types import SimpleNamespace
from xml.etree import ElementTree

import psutil
import pytest
from desk_course import command, course, right_text, wrong_text

from exercises.desk import carry, class_reports, classroom, cli, cli_class, submissions
from exercises.grading import spec

ENDLESS = "def scale_rows(weights, scale):\n    while True:\n        pass\n"
KILLER = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"


def hand_in(folder, learner, *texts, flat=False):
    """Write (id, text) pairs as a learner's folder."""
    for exercise_id, text in texts:
        file = spec.learner_file(exercise_id)
        target = folder / learner / (file.name if flat else f"{file.parent.name}/{file.name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "class").mkdir()
    return tmp_path / "class"


def test_answers_are_found_however_they_are_handed_in(course, folder, tmp_path):
    hand_in(folder, "flat", ("0.2", "a = 1\n"), flat=True)
    hand_in(folder, "nested/exercises", ("0.2", "b = 1\n"), ("2.3", "c = 1\n"))
    from exercises.desk import answers

    answers.save("0.2", "d = 1\n")
    (folder / "packed").mkdir()
    carry.pack(folder / "packed" / "mine.zip")
    carry.pack(folder / "zipped.zip")
    (folder / "nothing").mkdir()
    (folder / "readme.txt").write_text("hello")
    os.symlink(folder / "flat", folder / "linked")
    people, other = submissions.find(folder)
    found = {one.student: one.answers for one in people}
    assert found == {
        "flat": {"0.2": b"a = 1\n"},
        "nested": {"0.2": b"b = 1\n", "2.3": b"c = 1\n"},
        "packed": {"0.2": b"d = 1\n"},
        "zipped": {"0.2": b"d = 1\n"},
        "nothing": {},
    }
    assert other == ["linked (a link)", "readme.txt"]


def test_hostile_folders_are_only_read(course, folder):
    name = "new\nline;=1+1"
    hand_in(folder, name, ("0.2", os.urandom(500)), ("0.3", bytes(2 << 20)))
    place = folder / name
    os.symlink("/etc/passwd", place / "ex1_pool_rows.py")
    os.symlink("/", place / "everything")
    os.mkfifo(place / "ex4_model_bytes.py")
    (place / "bad.zip").write_bytes(b"PK\x03\x04 no")
    deep = place
    for _ in range(20):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "ex1_pool_rows.py").write_text("deep = 1")
    os.makedirs(os.fsencode(folder) + b"/\xff\xfe")
    people, _ = submissions.find(folder)
    one = next(p for p in people if p.student == name)
    assert set(one.answers) == {"0.2"}
    said = " ".join(one.problems)
    assert "a link" in said and "over 1 MiB" in said and "bad.zip" in said
    assert all(p.name.isprintable() and "\n" not in p.name for p in people)


def test_what_holds_no_answer_says_so(course, folder):
    hand_in(folder, "notebook", ("0.2", "{}"))
    (folder / "notebook/ch00_start/ex2_scale_rows.py").rename(folder / "notebook/mine.ipynb")
    with zipfile.ZipFile(folder / "own.zip", "w") as archive:
        archive.writestr("ch00_start/ex2_scale_rows.py", right_text("0.2"))
    people, _ = submissions.find(folder)
    said = {one.student: " ".join(one.problems) for one in people}
    assert "no file has the name" in said["notebook"]
    assert "own.zip: no answer in it" in said["own"] and "exercises pack" in said["own"]


def test_nobody_reads_what_the_others_handed_in(course, folder, tmp_path):
    hand_in(folder, "kim", ("0.2", right_text("0.2")))
    kim = folder / "kim/ch00_start/ex2_scale_rows.py"
    place = "__import__('pathlib').Path(__file__).parents[1]"
    for name, source in (("a", f"open({str(kim)!r}).read()"), ("b", f"list({place}.iterdir())")):
        hand_in(folder, name, ("0.2", f"text = {source}\n" + right_text("0.2")))
    hand_in(folder, "c", ("0.2", "import numpy, json\n" + right_text("0.2")))
    _, results = run(folder, ["0.2"], tmp_path, protect=(str(folder),))
    found = {r.student: r.status for r in results}
    assert found == {"a": "forbidden", "b": "forbidden", "c": "right", "kim": "right"}


def test_an_empty_or_missing_folder_is_said(course, folder):
    with pytest.raises(ValueError, match="no sub-folder"):
        submissions.find(folder)
    with pytest.raises(ValueError, match="not a folder"):
        submissions.find(folder / "none")


def run(folder, ids, tmp_path, resume=False, **plan):
    people, _ = submissions.find(folder)
    journal = classroom.Journal(tmp_path / "journal", resume)
    return people, classroom.grade(people, classroom.Plan(ids, **plan), journal)


def test_one_endless_and_one_violent_submission_harm_nobody(course, folder, tmp_path):
    """The total limit of a submission ends it, and the worker with it; the next ones are graded."""
    hand_in(folder, "a_endless", ("0.2", ENDLESS), ("0.3", right_text("0.3")))
    hand_in(folder, "b_killer", ("0.2", KILLER), ("0.3", right_text("0.3")))
    hand_in(folder, "c_right", ("0.2", right_text("0.2")), ("0.3", right_text("0.3")))
    hand_in(folder, "d_wrong", ("0.2", wrong_text("0.2", "mean_scale")))
    before = set(psutil.Process().children(recursive=True))
    # Generous for a busy machine, below the 20 s of work that one answer may take by itself.
    people, results = run(folder, ["0.2", "0.3"], tmp_path, limit_s=15.0)
    left = set(psutil.Process().children(recursive=True)) - before
    assert not [p for p in left if "resource_tracker" not in " ".join(p.cmdline())]
    status = {(r.student, r.exercise): r.status for r in results}
    assert status["a_endless", "0.2"] == status["a_endless", "0.3"] == "timeout"
    used_up = [r.message for r in results if r.student == "a_endless"]
    assert used_up == ["the time for this submission was used up"] * 2
    assert status["b_killer", "0.2"] not in ("right", "grader error")
    assert status["c_right", "0.2"] == status["c_right", "0.3"] == "right"
    assert status["d_wrong", "0.2"] == "wrong" and status["d_wrong", "0.3"] == "missing"
    assert [r.equals for r in results if r.student == "d_wrong"][0] == "mean_scale"


def test_personal_questions_follow_the_folder_s_name(course, folder, tmp_path):
    answer = lambda who: f"answer = {spec.reference('0.4')(**spec.cases('0.4', who)[0])!r}\n"
    differs = next(s for s in map(str, range(50)) if answer(s) != answer("kim"))
    hand_in(folder, "kim", ("0.4", answer("kim")))
    hand_in(folder, differs, ("0.4", answer("kim").replace("kim", "")))
    _, results = run(folder, ["0.4"], tmp_path, jobs=2)
    found = {r.student: r.status for r in results}
    assert found["kim"] == "right"
    wanted = spec.cases("0.4", differs)[0], spec.cases("0.4", "kim")[0]
    if wanted[0]["billions"] > 1.3 * wanted[1]["billions"]:
        assert found[differs] == "wrong"


def made_up(course, folder, tmp_path, monkeypatch):
    """A class whose grading is a table, without a process."""
    said = {"right": {"status": "right"}, "wrong": None}
    said["wrong"] = {
        "status": "wrong", "message": "bad \x00 <&> \ud800", "message_id": "value",
        "equals": "mean_scale", "equals_text": "the mean of all scales", "seconds": 0.5,
    }  # fmt: skip

    class Table:
        def __init__(self):
            self.process = None

        ready = close = end = lambda self: None

        def grade(self, job, limit_s, stop):
            text = open(job[1], "rb").read().decode()
            if text == "fault":
                return {"status": "grader error", "message": "ours"}
            return said["right" if "right" in text else "wrong"]

    monkeypatch.setattr(classroom, "Worker", Table)
    for name in ("=cmd", "b\nb", "kim"):
        hand_in(folder, name, ("0.1", "right"), ("0.2", "wrong"))
    return run(folder, ["0.1", "0.2", "0.3"], tmp_path)


def test_reports(course, folder, tmp_path, monkeypatch):
    people, results = made_up(course, folder, tmp_path, monkeypatch)
    assert class_reports.same_faults(results) == [
        "3 of 3 in 0.2: mean_scale (the mean of all scales)"
    ]
    rows = list(
        csv.reader(class_reports.as_csv(people, results, ["0.1", "0.2", "0.3"]).splitlines())
    )
    assert rows[0][:6] == ["learner", "right", "of", "0.1", "0.2", "0.3"]
    assert rows[1][:6] == ["'=cmd", "1", "3", "right", "wrong", "missing"]
    assert rows[2][0] == "b\\nb" and len(rows) == 4 and rows[1][7] == "mean_scale"
    told = json.loads(class_reports.as_json(people, results))
    assert [one["right"] for one in told["learners"]] == [1, 1, 1]
    root = ElementTree.fromstring(class_reports.as_junit(people, results))
    assert [s.get("failures") for s in root] == ["2", "2", "2"]
    class_reports.write_gradescope(tmp_path / "gs", people, results)
    made = sorted((tmp_path / "gs").iterdir())
    assert len(made) == 3 and json.loads(made[0].read_text())["score"] == 1.0
    one = json.loads(made[0].read_text())
    assert sum(t["score"] for t in one["tests"]) == one["score"] and len(one["tests"]) == 3
    with pytest.raises(ValueError, match="3 learners"):
        class_reports.write_gradescope(tmp_path / "r.json", people, results)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_narrow_terminal_has_learners_and_sums(
    course, folder, tmp_path, monkeypatch, capsys, width
):
    """16 chapters do not fit into 80 columns: then they go, not the names."""
    people, results = made_up(course, folder, tmp_path, monkeypatch)
    ids = [f"{n}.{i}" for n in range(15) for i in (1, 2)]
    monkeypatch.setattr(spec, "get", lambda exercise_id: SimpleNamespace(evening=True))
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    cli_class._show(people, results, ids)
    said = capsys.readouterr().out
    assert "learner" in said and "kim" in said and "1/3" in said and "…" not in said
    assert ("--csv" in said) == (width < 200) == ("14" not in said.split("\n")[0])


@pytest.mark.parametrize("flag", ["--csv", "--json", "--junit"])
@pytest.mark.parametrize("place, says", [("no/r.out", "there is no folder"), ("", "is not a file")])
def test_a_place_without_a_folder_is_said_before_grading(
    course, folder, tmp_path, monkeypatch, capsys, flag, place, says
):
    hand_in(folder, "kim", ("0.2", right_text("0.2")))
    monkeypatch.setattr(classroom, "grade", lambda *_: pytest.fail("graded before it was said"))
    assert cli.run(["grade", str(folder), flag, str(tmp_path / place)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err and not (tmp_path / "no").exists()


def test_a_journal_line_that_a_kill_cut_is_made_again(course, folder, tmp_path, monkeypatch):
    made_up(course, folder, tmp_path, monkeypatch)
    path = tmp_path / "journal"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 25])
    graded = []
    kept = classroom.Journal.add
    monkeypatch.setattr(
        classroom.Journal, "add", lambda self, r: (graded.append(r.exercise), kept(self, r))
    )
    _, results = run(folder, ["0.1", "0.2", "0.3"], tmp_path, resume=True)
    assert graded == ["0.3"] and len(results) == 9
    graded.clear()
    hand_in(folder, "kim", ("0.2", "now right"))
    _, results = run(folder, ["0.1", "0.2", "0.3"], tmp_path, resume=True)
    assert graded == ["0.2"] and [r.status for r in results][-2] == "right"
    graded.clear()
    run(folder, ["0.1"], tmp_path)  # without --resume: all again, the old journal stays
    assert graded == ["0.1"] * 3 and (tmp_path / "journal.before").exists()


def test_kill_9_in_the_middle_and_resume(course, folder, tmp_path, command):
    for number in range(6):
        hand_in(folder, f"s{number}", ("0.2", right_text("0.2")), ("0.3", right_text("0.3")))
    line = ["-m", "exercises", "grade", str(folder), "--exercises", "0.2,0.3"]
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, *line], cwd=tmp_path, env=env, stdout=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    journal, end = folder.with_name("class.journal"), time.monotonic() + 200
    while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    done_before = len(classroom.read_journal(journal))
    assert 3 <= done_before
    done = command(*line, "--resume", "--csv", str(tmp_path / "c.csv"))
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader((tmp_path / "c.csv").read_text("utf-8-sig").splitlines()))
    assert [row[1:3] for row in rows[1:]] == [["2", "2"]] * 6
    keys = [r.key for r in classroom.read_journal(journal)]
    assert len(keys) == len(set(keys)) == 12  # nothing was graded twice


def test_a_fault_of_ours_is_no_learner_s_and_exits_1(course, folder, tmp_path, monkeypatch, capsys):
    made_up(course, folder, tmp_path, monkeypatch)
    from exercises.desk import cli

    hand_in(folder, "kim", ("0.2", "fault"))
    argv = ["grade", str(folder), "--exercises", "0.2", "--journal", str(tmp_path / "j2")]
    assert cli.run(argv) == 1
    assert "fault of the grader" in capsys.readouterr().out
    assert cli.run([*argv, "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["learners"]
