"""Hints, solution, ask, reset, explain, trace, guesses, names: the ladder and its small parts."""

import math
import os
import subprocess
import sys

import pytest
from desk_course import children, course, right_text, wrong_text
from hypothesis import given, settings
from hypothesis import strategies as st

from exercises import notebook
from exercises.desk import answers, guess, help, names, progress, shrink, words
from exercises.desk.checking import check
from exercises.desk.explain import explain, literal
from exercises.desk.trace import trace
from exercises.grading import spec


def test_hints_come_one_by_one(course):
    hints = spec.get("0.2").hints
    for number, text in enumerate(hints):
        said = help.hint("0.2")
        assert text in said and sum(h in said for h in hints) == 1
        assert progress.load()["exercises"]["0.2"]["hints"] == number + 1
    assert all(h in help.hint("0.2") for h in hints)
    assert all(h in help.hint("0.1", everything=True) for h in spec.get("0.1").hints)


def test_solution_only_after_a_try_of_ones_own(course, children):
    with pytest.raises(ValueError, match="first one try"):
        help.solution("0.2")
    check("0.2", children)  # an untouched file is no try
    with pytest.raises(ValueError, match="first one try"):
        help.solution("0.2")
    answers.save("0.2", wrong_text("0.2", "mean_scale"))
    assert not check("0.2", children).report.ok
    said = help.solution("0.2")
    assert "scale[:, None]" in said and "-" in said
    assert progress.load()["exercises"]["0.2"]["seen"]


def test_a_prediction_s_solution_gives_the_value_of_its_own_question(course, children):
    answers.save("0.4", "answer = {'fp32': 1.0, 'fp16': 1.0, 'int4': 1.0}\n")
    check("0.4", children)
    want = spec.reference("0.4")(**spec.cases("0.4", "")[0])
    assert str(want) in help.solution("0.4")


def test_ask_holds_everything_but_our_answer(course, children):
    mine = "def scale_rows(weights, scale):\n    return weights * scale[0]\n"
    answers.save("0.2", mine)
    done = check("0.2", children)
    help.hint("0.2")
    block = help.ask("0.2", done.lines())
    assert mine in block and spec.get("0.2").title in block
    assert "differ" in block and "the first scale used for every row" in block
    assert spec.get("0.2").hints[0] in block and spec.get("0.2").hints[1] not in block
    assert "scale[:, None]" not in block


def test_reset_keeps_the_answer_and_restore_brings_it_back(course):
    answers.save("0.2", "mine = 1\n")
    help.park("0.2")
    help.reset("0.2")
    assert answers.is_fresh("0.2", answers.read("0.2").decode())
    assert answers.state("0.2", progress.load()) == "not started"
    help.restore("0.2", 1)
    assert answers.read("0.2") == b"mine = 1\n"
    with pytest.raises(ValueError, match="no number 7"):
        help.restore("0.2", 7)


def test_after_many_tries_the_whole_ladder_is_offered(course, children):
    for number in range(1, words.MANY_TRIES + 1):
        answers.save("0.2", wrong_text("0.2", "divides") + f"# try {number}\n")
        text = words.as_text(check("0.2", children).lines())
        assert ("solution 0.2" in text) == (number == words.MANY_TRIES), number
    assert "Yours does this: " in text and "park 0.2" in text


def test_a_personal_question_follows_the_student(course):
    progress.change(lambda data: data.update(student="kim"))
    answers.save("2.9", spec.fresh_text("2.9") + "\n# begun\n")
    done, left = answers.personalise("kim")
    assert "2.9" in left and "2.9" not in done
    assert answers.read("0.4").decode() == spec.fresh_text("0.4", "kim")


@pytest.mark.parametrize("name", ["scale_columns", "one_scale_for_all", "mean_scale"])
def test_explain_finds_a_smallest_input_and_its_cell_shows_it_again(course, name):
    answers.save("0.2", wrong_text("0.2", name))
    failing = shrink.find("0.2")
    sizes, _ = shrink.smaller("0.2", failing.seed)
    earlier = sizes[: sizes.index(failing.size)]
    assert sum(failing.size.values()) <= 4, failing.size
    for number, size in enumerate(earlier):  # on every smaller one it is right
        case = shrink.make("0.2", failing.seed, number, size)
        got = spec.variants("0.2", "wrong")[name](**case)
        assert got.allclose(spec.reference("0.2")(**case))
    text = explain("0.2")
    cell = text[text.index("import torch") :]
    done = subprocess.run(
        [sys.executable, "-c", cell], cwd=course.parent, capture_output=True, text=True,
        timeout=120, env=os.environ | {"PYTHONPATH": str(course.parent)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == repr(failing.result.output)


def test_explain_shows_an_error_too(course):
    answers.save("0.2", "def scale_rows(weights, scale):\n    return weights * scale\n")
    failing = shrink.find("0.2")
    assert failing.size == {"O": 2, "I": 3} or sum(failing.size.values()) <= 4
    assert "what is wrong" in explain("0.2")


def test_nothing_to_explain_is_said(course):
    with pytest.raises(ValueError, match="not started"):
        explain("0.2")
    with pytest.raises(ValueError, match="no function that takes inputs"):
        explain("0.4")
    answers.save("0.2", right_text("0.2"))
    with pytest.raises(ValueError, match="right on all"):
        explain("0.2")
    answers.save("0.2", "def scale_rows(:\n")
    with pytest.raises(ValueError, match="0.2"):
        explain("0.2")


def test_trace_names_the_first_variable_that_differs(course):
    source = right_text("2.3")
    names_there = list(shrink_locals("2.3"))
    assert names_there, "the reference of 2.3 names no intermediate"
    name = names_there[0]
    lines = source.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().startswith(f"{name} ="))
    pad = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    lines.insert(at + 1, f"{pad}{name} = {name} * 3")
    answers.save("2.3", "\n".join(lines) + "\n")
    said = trace("2.3")
    assert f"the first that differs is {name}" in said, said


def shrink_locals(exercise_id):
    """Names of the reference's variables, without its arguments."""
    from exercises.desk.trace import reference_calls

    case = spec.cases(exercise_id, "x")[0]
    return [n for n in reference_calls(exercise_id, case)[0]["locals"] if n not in case]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("answer = 12", 12),
        ("x = 2e9\nanswer = x * 4 / 1e9", 8.0),
        ("answer = [1, 2**3, -4]", [1, 8, -4]),
        ("answer = {'a': 1, 'b': 2 // 2}", {"a": 1, "b": 1}),
        ("answer = None", None),
        ("answer = True", None),
        ("answer = open('/etc/passwd')", None),
        ("answer = 9**9**9", None),
        ("answer = 1 / 0", None),
        ("answer = [1] * 10**9", None),
        ("answer = 'abc' % 3", None),
        ("answer = 1e999", None),
        ("answer =", None),
        ("answer: int = 3", 3),
    ],
)
def test_guesses_are_read_without_running_them(text, value):
    assert guess.read_guess(text) == value


@given(st.text(max_size=60))
@settings(deadline=None)
def test_no_text_breaks_the_reading_of_a_guess(text):
    guess.read_guess(text)
    guess.read_guess(f"answer = {text}")


def test_names(course):
    assert names.one_id("0.2") == names.one_id(" 00.2 ") == "0.2"
    assert names.one_id("exercises/ch02_transformer/ex3_attention.py") == "2.3"
    assert names.many_ids(["0"]) == names.many_ids(["ch00_start"]) == ["0.1", "0.2", "0.3", "0.4"]
    assert names.many_ids(["2.1", "0.1"]) == ["0.1", "2.1"]
    assert names.many_ids(["all"]) == spec.all_ids()
    for text in ("0.9", "9.9", "", "x", "..", "\n", "4" * 5000):
        with pytest.raises(
            ValueError, match="did you mean|no chapter|look like|has 0.1 to 0.4|has 9.1 to"
        ):
            names.many_ids([text])


def test_measured_beside_the_guess_and_calibration(course, capsys, children, monkeypatch):
    monkeypatch.delenv("MINILLM_FAST", raising=False)
    notebook.measured("0.4", {"fp32": 28e9, "fp16": 14e9, "int4": 4e9}, "bytes")
    out = capsys.readouterr().out
    assert "no guess yet" in out and "14" not in out, "a saved output must not give it away"
    assert notebook.calibration() == [] and "0.4" not in progress.load()["exercises"]
    answers.save("0.4", "answer = {'fp32': 28e9, 'fp16': 7e9, 'int4': 16e9}\n")
    check("0.4", children)
    notebook.measured("0.4", {"fp32": 28e9, "fp16": 14e9, "int4": 4e9}, "bytes", "a note")
    out = capsys.readouterr().out
    assert "exactly that" in out and "2.00 times too low" in out and "4.00 times too high" in out
    rows = {name: (said, got, off) for name, said, got, off in notebook.calibration()}
    assert rows["0.4[fp16]"] == (7e9, 14e9, 1.0) and rows["0.4[int4]"][2] == 2.0
    answers.save("0.4", "answer = {'fp32': 28e9, 'fp16': 14e9, 'int4': 4e9}\n")
    check("0.4", children)  # mended after the measurement: the first guess stays in the plot
    notebook.measured("0.4", {"fp32": 28e9, "fp16": 14e9, "int4": 4e9}, "bytes")
    assert {r[0]: r[3] for r in notebook.calibration()}["0.4[fp16]"] == 1.0


def test_a_guess_that_is_near_is_not_called_wrong_and_lists_count_from_1():
    verdict = notebook._verdict
    assert verdict(0.614, 0.6191, "x").endswith("0.6191 x: within 1%")
    assert verdict(100, 91, "x").endswith("within 9%")
    assert verdict(100, 125, "x").endswith("1.25 times too high")
    assert [label for label, *_ in notebook._pairs([5, 6], [5, 6])] == ["1: ", "2: "]


def test_after_the_third_hint_ask_and_solution_are_offered():
    for exercise_id in ("4.2", "0.4"):
        said = str(words.next_help(exercise_id, {"failed": 1, "hints": 3}))
        assert f"ask {exercise_id}" in said and "then solution" in said
        assert (f"explain {exercise_id}" in said) == (exercise_id == "4.2")  # 0.4 is a prediction
        assert "ask" not in str(words.next_help(exercise_id, {"failed": 1, "hints": 2})).replace(
            "next", "")  # fmt: skip


def test_fast_mode_keeps_nothing(course, capsys, children, monkeypatch):
    monkeypatch.setenv("MINILLM_FAST", "1")
    answers.save("0.4", "answer = {'fp32': 28e9, 'fp16': 7e9, 'int4': 16e9}\n")
    check("0.4", children)
    notebook.measured("0.4", {"fp32": 28e9, "fp16": 14e9, "int4": 4e9}, "bytes")
    out = capsys.readouterr().out
    assert "fast mode" in out and "2.00 times too low" in out
    assert "measured" not in progress.load()["exercises"]["0.4"]


def test_a_notebook_uses_an_answer_only_if_it_is_right(course, children):
    """What the learner has not solved, or has broken since, must not stop a notebook."""
    assert notebook.my_solution("0.3") is None
    answers.save("0.3", "def split_heads(x_TO, num_heads):\n    return x_TO\n")
    check("0.3", children)
    assert notebook.my_solution("0.3") is None, "a wrong answer"
    right = spec.file_of("0.3", "reference").read_text(encoding="utf-8")
    answers.save("0.3", right)
    check("0.3", children)
    assert notebook.my_solution("0.3").__name__ == spec.get("0.3").entry
    answers.save("0.3", right + "\n1 / 0\n")
    assert notebook.my_solution("0.3") is None, "changed since"


@pytest.mark.parametrize("value", [math.nan, "x", None, {}, [None]])
def test_measured_takes_numbers_only(course, value):
    if value == {}:
        notebook.measured("0.4", value, "s")
        return
    with pytest.raises(ValueError, match="finite numbers"):
        notebook.measured("0.4", value, "s")


@given(st.lists(st.floats(allow_nan=True, width=32), max_size=5))
def test_a_literal_is_the_value_again(values):
    import torch

    tensor = torch.tensor(values)
    again = eval(literal(tensor), {"torch": torch, "float": float})
    assert torch.equal(again.nan_to_num(7.5), tensor.nan_to_num(7.5))


def test_who_was_right_before_and_plays_is_not_sent_away():
    """Wrong variations after the right answer are no guesses."""
    many = {"failed": words.MANY_TRIES, "hints": 0}
    assert "another guess" in str(words.next_help("0.2", many))
    assert "another guess" not in str(words.next_help("0.2", many | {"right": ["a sha"]}))
