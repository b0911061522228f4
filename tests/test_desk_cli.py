"""The commands as somebody types them, from any folder; each expected error is one line."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from desk_course import children, command, course, right_text, wrong_text

from exercises.desk import answers, cli, progress, status
from exercises.grading import spec


def test_status_from_another_folder(course, command):
    progress.change(lambda d: progress.entry(d, "0.1").update(parked=True))
    done = command("-m", "exercises", "status", cwd=Path("/"))
    assert done.returncode == 0, done.stderr
    assert (
        "What will we build?" in done.stdout and "Parked, still waiting for you: 0.1" in done.stdout
    )
    assert str(course) not in done.stdout  # paths are shown from the course's folder


def test_check_solves_and_counts(course, command):
    answers.save("0.2", right_text("0.2"))
    done = command("-m", "exercises", "check", "0.2")
    assert (done.returncode, done.stderr) == (0, "") and "0.2 One scale a row: right" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("next: 0.3 ")
    text = command("-m", "exercises", "check", "0")
    lines = text.stdout.splitlines()
    assert text.returncode == 1 and lines[-2:] == ["not started: 0.1, 0.3, 0.4", "1 of 4 right"]
    assert "next:" not in text.stdout and text.stdout.count("0.2 ") == 1
    done = command("-m", "exercises", "check", "0", "--json")
    told = {one["exercise"]: one["status"] for one in json.loads(done.stdout)}
    assert done.returncode == 1 and told["0.2"] == "right" and told["0.1"] == "not started"
    row = json.loads(command("-m", "exercises", "status", "0.2", "--json").stdout)[0]
    assert row["state"] == "solved" and row["attempts"] == 1  # the first right one


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["check", "0.9"], "chapter 0 has 0.1 to 0.4"),
        (["check", "77"], "no chapter"),
        (["check"], "like 4.2"),
        (["hint"], "like 4.2"),
        (["hint", "zzz"], "ids look like 4.2"),
        (["solution", "0.2"], "first one try"),
        (["explain", "0.2"], "not started"),
        (["unpack", "nothing.zip"], "does not exist"),
        (["grade", "nowhere"], "not a folder"),
        (["backups", "0.2", "--restore", "3"], "no number 3"),
        (["student", " "], "an id is not empty"),
        (["student", "../../x"], "cannot be an id: it is the name of the folder"),
        (["student", ".kim"], "cannot be an id"),
        (["student", "a\\b"], "cannot be an id"),
        (["student", "x" * 300], "cannot be an id"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_errors_are_one_line_and_code_2(course, capsys, argv, says):
    assert cli.run(argv) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("exercises: ") and err.count("\n") == 1 and says in err


def test_a_refused_id_changes_nothing(course, capsys):
    assert cli.run(["student", " Kim Min-su, 학생 3 "]) == 0
    assert cli.run(["student", "../../x"]) == 2 and cli.run(["student", ""]) == 2
    assert progress.student() == "Kim Min-su, 학생 3"


def test_no_backups_is_said(course, capsys):
    assert cli.run(["backups", "0.2"]) == 0
    assert capsys.readouterr().out.startswith("0.2 has no backups")


@pytest.mark.parametrize("argv", [["park", "0.2"], ["reset", "0.2"], ["student", "kim"]])
def test_a_place_for_progress_that_cannot_be_written(course, tmp_path, monkeypatch, capsys, argv):
    """A file stands where the folder should be: root is refused there as well."""
    answers.save("0.2", "mine = 1\n")
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "taken" / "here"))
    assert cli.run(argv) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "[Errno" not in err
    assert str(tmp_path / "taken") in err and "set MINILLM_PROGRESS to a folder" in err
    assert answers.read("0.2") == b"mine = 1\n"


@pytest.mark.parametrize("width", [50, 60, 80, 160])
def test_status_cuts_no_title(course, monkeypatch, capsys, width):
    """Where the terminal is narrow the level goes first; nothing ends in ..."""
    edit = lambda data: progress.entry(data, "0.2").update(seen=True, attempts=12)
    progress.change(edit)
    answers.save("0.2", "mine = 1\n")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert cli.run(["status"]) == 0
    said = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    words = set(said.split())
    assert all(word in words for i in spec.all_ids() for word in spec.get(i).title.split())
    assert "…" not in said and "solution" in words and "changed," in words
    rows = [line.rstrip() for line in said.splitlines() if line.startswith(" ")]
    assert len(rows) > len(spec.all_ids()) and max(map(len, rows)) <= width
    shown = {name for name in ("kind", "level") if name in rows[0].split()}
    assert shown == {160: {"kind", "level"}, 80: {"kind"}}.get(width, set())


def test_the_whole_ladder(course, capsys):
    answers.save("0.2", wrong_text("0.2", "divides"))
    assert cli.run(["check", "0.2"]) == 1
    for argv in ("hint 0.2", "explain 0.2", "trace 0.2", "solution 0.2", "park 0.2", "ask 0.2"):
        assert cli.run(argv.split()) == 0, argv
        assert len(capsys.readouterr().out) > 20
    assert cli.run(["status", "0.2"]) == 0
    assert "parked, solution seen" in capsys.readouterr().out
    assert cli.run(["student", "kim"]) == 0 and cli.run(["student"]) == 0
    assert "kim" in capsys.readouterr().out
    assert cli.run(["reset", "0.2"]) == 0 and cli.run(["backups", "0.2"]) == 0
    assert "\n  1  " in capsys.readouterr().out
    assert answers.is_fresh("0.2", answers.read("0.2").decode())


def test_a_full_disk_costs_the_note_and_not_the_verdict(course, children, monkeypatch):
    from exercises.desk.checking import check

    def full(*_):
        raise OSError(28, "No space left on device")

    answers.save("0.2", right_text("0.2"))
    monkeypatch.setattr(progress.files, "write", full)
    done = check("0.2", children)
    assert done.report.ok and "could not be written" in " ".join(done.notes)


def test_ctrl_c_ends_it_quietly(course, tmp_path):
    answers.save("0.2", "def scale_rows(weights, scale):\n    while True:\n        pass\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "exercises", "check", "0.2"], cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.PIPE,
        # a shell's background job ignores Ctrl-C and hands that on: a terminal's does not
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    import psutil

    end = time.monotonic() + 100
    while not psutil.Process(process.pid).children():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.05)
    started = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err, err
    gone, alive = psutil.wait_procs(started, timeout=30)
    assert not alive


def test_minutes_and_what_comes_next(course):
    rows = status.facts(spec.all_ids())
    assert status.minutes_left(rows) == sum(spec.get(i).minutes for i in spec.all_ids())
    evening = sum(spec.get(i).minutes for i in spec.all_ids() if spec.get(i).evening)
    assert status.minutes_left(rows, evening=True) == evening
    rows[0]["state"] = "solved"
    assert status.minutes_left(rows) == sum(spec.get(i).minutes for i in spec.all_ids()[1:])


README = (Path(__file__).resolve().parents[1] / "exercises" / "README.md").read_text("utf-8")


def test_the_readme_counts_what_is_there():
    every = [spec.get(i) for i in spec.all_ids()]
    starred = [e for e in every if e.evening]
    chapters = sorted({int(e.chapter) for e in every if e.chapter != "A1"})
    text = " ".join(README.split())
    assert f"chapters {chapters[0]:02d} to {chapters[-1]:02d}: {len(every)} exercises, " in text
    assert f"exercises, {sum(e.minutes for e in every)} minutes." in text
    assert f"Of these, {len(starred)} are the evening path, " in text
    assert f"path, {sum(e.minutes for e in starred)} minutes." in text


def test_every_command_of_the_readme_exists_and_none_is_missing(course):
    import typer

    known = set(typer.main.get_command(cli.app).commands)
    named = set(re.findall(r"(?:python -m exercises|%exercise) ([a-z]+)", README))
    assert named <= known, named - known
    told = {word for word in known if re.search(rf"\b{word}\b", README)}
    assert told == known, known - told
