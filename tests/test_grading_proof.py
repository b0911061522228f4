"""The proof table in parts: every answer of every exercise, and every cheat, gets its verdict."""

import tempfile
from dataclasses import replace

import pytest

from exercises.grading import cheats, proof, spec, verdict
from exercises.grading.runner import Children

CHEATS = {attempt.name: attempt for attempt in proof.cheat_attempts()}


@pytest.fixture(scope="session")
def children():
    with Children() as them:
        yield them


def misjudged(rows) -> str:
    return "\n\n".join(" | ".join(proof.line(row)) for row in rows if not row.fine)


@pytest.mark.parametrize("exercise_id", spec.all_ids())
def test_every_answer_gets_its_verdict(exercise_id, children):
    todo = list(proof.attempts(exercise_id))
    rows = list(proof.prove(todo, children))
    assert len(rows) == len(todo) and not misjudged(rows), misjudged(rows)


@pytest.mark.parametrize("exercise_id", spec.all_ids())
def test_an_exercise_has_enough_to_be_proven_with(exercise_id):
    """Five wrong answers (four false mends of a hunt, three of a slow one), two right ones."""
    kind = spec.get(exercise_id).kind
    wrong, right = (spec.variants(exercise_id, k) for k in ("wrong", "right"))
    assert len(wrong) >= {"hunt": 4, "slow": 3, "break": 4}.get(kind, 5), list(wrong)
    assert len(right) >= 2, list(right)
    assert all((answer.__doc__ or "").strip() for answer in wrong.values())


@pytest.mark.parametrize("name", CHEATS)
def test_every_cheat_ends_as_it_must(name, children):
    rows = list(proof.prove([CHEATS[name]], children))
    assert not misjudged(rows), misjudged(rows)


def test_every_cheat_is_tried():
    assert len(CHEATS) == len(cheats.all_cheats()) >= 15


SPAWNED = ("os_exit", "forks", "imports_the_reference", "edits_its_inputs", "endless_loop")


@pytest.mark.parametrize("name", SPAWNED)
def test_cheats_end_the_same_in_a_spawned_child(name):
    with Children("spawn") as spawned:
        rows = list(proof.prove([CHEATS[name]], spawned))
    assert not misjudged(rows), misjudged(rows)


def test_no_cheat_is_right_when_the_check_cannot_see_it(children):
    """The table shows a judge that lets everything through: all wrong answers are misjudged."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdict, "judge", lambda *args: None)
        rows = list(proof.prove(list(proof.attempts("0.2")), children))
    assert {r.attempt.kind for r in rows if not r.fine} == {"wrong"}


def test_a_wrong_answer_must_be_named(children):
    attempt = next(a for a in proof.attempts("0.2") if a.kind == "wrong")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdict, "equals", lambda *args: None)
        rows = list(proof.prove([attempt], children))
    assert not rows[0].fine


def test_the_command_fails_on_a_misjudgement(capsys):
    assert proof.main(["0.2"]) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdict, "judge", lambda *args: None)
        assert proof.main(["0.2"]) == 1
    assert "5 misjudged" in capsys.readouterr().out


def test_an_id_that_is_none_is_one_line(capsys):
    with pytest.raises(SystemExit) as end:
        proof.main(["77"])
    assert end.value.code == 2 and "no exercise 77" in capsys.readouterr().err


def test_no_job_folder_is_left_behind(children, tmp_path, monkeypatch):
    """Also not of children that had to be ended, nor of files that an answer left in it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    leaves = replace(
        CHEATS["prints_passed"],
        text="open('left.txt', 'w').write('x')\nimport os\n"
        "def scale_rows(weights, scale):\n    os._exit(1)\n",
        statuses=("crashed",),
    )
    rows = list(proof.prove([CHEATS["endless_loop"], leaves], children))
    assert not misjudged(rows) and list(tmp_path.iterdir()) == []
