"""A question keeps the numbers it was begun with; a deleted file comes back under its name."""

import subprocess

import desk_course
import pytest
from desk_course import children

from exercises import notebook
from exercises.desk import answers, carry, help, magic, names, progress, tracked
from exercises.desk.checking import check
from exercises.grading import spec

BOTH = ("0.4", "1.3")


@pytest.fixture
def course(tmp_path, monkeypatch):
    monkeypatch.setattr(desk_course, "CHAPTERS", ("ch00_start", "ch01_roofline"))
    monkeypatch.setattr(spec, "ROOT", desk_course.untouched_copy(tmp_path))
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "progress"))


def right(exercise_id: str, student: str) -> str:
    value = spec.reference(exercise_id)(**spec.cases(exercise_id, student)[0])
    return f"answer = {value!r}\n"


def numbers(exercise_id: str, student: str) -> dict:
    return spec.cases(exercise_id, student)[0]


@pytest.mark.parametrize("first", ["", "amy"])
@pytest.mark.parametrize("graded", [True, False])
def test_a_new_id_leaves_begun_questions_as_they_were(course, children, first, graded):
    if first:
        answers.personalise(first)
    for one in BOTH:
        assert numbers(one, first) != numbers(one, "dora")
        answers.save(one, right(one, first))
        if graded:
            assert check(one, children).report.ok
    left = answers.personalise("dora")[1]
    assert set(BOTH) <= set(left) and progress.student() == "dora"
    for one in BOTH:
        found = check(one, children)
        assert found.report.ok and any("begun" in note for note in found.notes)
        assert notebook.question(one) == numbers(one, first)
        value = spec.reference(one)(**numbers(one, first))
        assert f"For your question it gives: {value}" in help.solution(one)
        assert answers.tidy(spec.fresh_text(one, first)) in help.ask(one, found.lines())
        help.reset(one)
        assert answers.read(one).decode() == spec.fresh_text(one, "dora")
        assert notebook.question(one) == numbers(one, "dora")
        answers.save(one, right(one, "dora"))
        found = check(one, children)
        assert found.report.ok and not found.notes
        help.restore(one, 1)  # the first text, with the numbers that it answers
        assert check(one, children).report.ok
        assert notebook.question(one) == numbers(one, first)


def test_untouched_questions_follow_the_id(course, children):
    for name in ("amy", "dora"):
        answers.personalise(name)
        assert answers.read("0.4").decode() == spec.fresh_text("0.4", name)
        assert notebook.question("0.4") == numbers("0.4", name)
    assert check("0.4", children).report.status == "not started"


def test_a_reset_for_somebody_asks_with_that_one_s_numbers(course, children):
    answers.personalise("amy")
    help.reset("0.4", "kim")
    answers.save("0.4", right("0.4", "kim"))
    assert check("0.4", children).report.ok
    answers.personalise("dora")
    assert check("0.4", children).report.ok


def test_a_cell_is_told_the_numbers_it_was_begun_with(course, children):
    answers.personalise("amy")
    magic.keep("0.4", right("0.4", "amy"))
    answers.personalise("dora")
    notes = magic.keep("0.4", right("0.4", "amy") + "# again\n")
    assert any("student amy" in note for note in notes), notes


def test_a_pack_brings_its_numbers_and_leaves_ours(course, children, tmp_path, monkeypatch):
    answers.personalise("amy")
    answers.save("0.4", right("0.4", "amy"))
    carry.pack(tmp_path / "p.zip")
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "elsewhere"))
    help.reset("0.4")
    answers.personalise("bob")
    answers.save("1.3", right("1.3", "bob"))
    carry.unpack(tmp_path / "p.zip")
    assert progress.student() == "amy"
    assert all(check(one, children).report.ok for one in BOTH)


@pytest.mark.parametrize("entry", [{"student": 1}, {"askers": []}, {"askers": {"a": None}}])
def test_damaged_ids_are_no_progress(entry):
    with pytest.raises(ValueError, match="something else than ids"):
        progress.checked({"exercises": {"0.4": entry}})


def test_a_deleted_file_comes_back_under_its_name(course):
    path = answers.path_of("0.2")
    path.unlink()
    help.reset("0.2")
    assert path.exists() and answers.path_of("0.2") == path


def test_every_tracked_file_has_its_name_in_the_table():
    done = subprocess.run(
        ["git", "ls-files", "exercises/ch*/ex*_*.py"], cwd=spec.ROOT.parent, capture_output=True,
        text=True,
    )  # fmt: skip
    if done.returncode:
        pytest.skip("no git checkout")
    found = [line.split("/") for line in done.stdout.split() if line.count("/") == 2]
    assert {names.one_id("/".join(parts)): parts[2] for parts in found} == tracked.NAMES
