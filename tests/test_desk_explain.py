"""explain and trace on every exercise: they come to an end, and say what they are there to say."""

import contextlib
import time
from pathlib import Path

import desk_course
import pytest
import torch
from desk_course import children

from exercises.desk import answers, progress, shrink, words
from exercises.desk.explain import explain, first_part, short
from exercises.desk.trace import stated, trace
from exercises.grading import messages, spec

WITH_INPUTS = [i for i in spec.all_ids() if spec.get(i).kind not in ("predict", "choose")]


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of all chapters; each test overwrites the answers it needs."""
    with pytest.MonkeyPatch.context() as patch:
        every = tuple(p.name for p in desk_course.COURSE.glob("ch*_*"))
        patch.setattr(desk_course, "CHAPTERS", every)
        return desk_course.untouched_copy(tmp_path_factory.mktemp("every"))


@pytest.fixture
def every_chapter(copied, children, tmp_path, monkeypatch):
    one_server = lambda *_: contextlib.nullcontext(children)
    monkeypatch.setattr("exercises.grading.runner.Children", one_server)
    monkeypatch.setattr(spec, "ROOT", copied)
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "progress"))
    return copied


@pytest.mark.timeout(120)
@pytest.mark.parametrize("exercise_id", WITH_INPUTS)
def test_a_wrong_answer_of_every_exercise_is_explained(every_chapter, monkeypatch, exercise_id):
    name = next(iter(spec.variants(exercise_id, "wrong")))
    answers.save(exercise_id, desk_course.wrong_text(exercise_id, name))
    monkeypatch.setattr(shrink, "SEARCH_S", 0.5)
    failing = shrink.find(exercise_id)
    monkeypatch.setattr(shrink, "find", lambda _: failing)
    said = explain(exercise_id)
    assert "what is wrong" in said and f"my_answer({exercise_id!r})" in said
    assert len(said) < 8000, len(said)
    named = stated(spec.fresh_text(exercise_id))
    for line in trace(exercise_id).splitlines():
        if "Not found in yours: " in line:  # only names that the learner was told
            missing = line.partition(": ")[2].partition(". ")[0]
            assert set(missing.split(", ")) <= named, line


@pytest.mark.timeout(60)
@pytest.mark.parametrize("exercise_id", WITH_INPUTS)
def test_the_maker_of_every_exercise_comes_to_an_end_on_small_sizes(exercise_id):
    """explain() makes them in the learner's process, and nothing interrupts it there."""
    sizes = shrink.candidates(spec.get(exercise_id).sizes)
    few = sizes[: shrink.SMALLEST] + sizes[shrink.SMALLEST :: max(len(sizes) // shrink.SPREAD, 1)]
    if hasattr(spec.check_of(exercise_id), "cases"):  # it makes its own, none is shrunk
        few = []
    for number, size in enumerate(few):
        with contextlib.suppress(Exception):  # a size that make() does not know is left out
            shrink.make(exercise_id, "x", number, size)
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()


def test_a_long_search_is_stopped_between_two_inputs(every_chapter, monkeypatch):
    check, made = spec.check_of("0.2"), []
    make = check.make

    def slow(rng, O, I):
        made.append((O, I))
        time.sleep(0.2)
        return make(rng, O, I)

    monkeypatch.setattr(check, "make", slow)
    monkeypatch.setattr(shrink, "SEARCH_S", 0.3)
    sizes, stopped = shrink.smaller("0.2", "x")
    assert stopped and len(made) <= 2
    assert all(size in sizes for size in spec.get("0.2").sizes)
    monkeypatch.setattr(check, "make", make)
    answers.save("0.2", desk_course.wrong_text("0.2", "divides"))
    monkeypatch.setattr(shrink, "smaller", lambda *_: (sizes, stopped))
    assert "the search stopped after" in explain("0.2")


def test_grouped_heads_are_shrunk_to_two_groups_of_two(every_chapter):
    answers.save("4.2", desk_course.wrong_text("4.2", "heads_tiled"))
    size = shrink.find("4.2").size
    assert (size["H"], size["G"], size["steps"]) == (4, 2, (1,))


def test_a_slow_answer_is_told_its_counts_and_not_all_its_steps(every_chapter):
    answers.save("4.6", spec.fresh_text("4.6"))
    said = explain("4.6")
    assert "yours counts " in said and " bytes, ours " in said
    assert len(said) < 3000


def test_an_untouched_hunt_is_not_given_away(every_chapter):
    answers.save("4.8", spec.fresh_text("4.8"))
    with pytest.raises(ValueError, match="first change"):
        trace("4.8")
    answers.save("4.8", spec.fresh_text("4.8") + "\nchanged = True\n")
    assert "4.8" in trace("4.8")


def test_where_variables_cannot_be_compared_trace_says_why_and_is_not_offered(every_chapter):
    answers.save("7.1", desk_course.wrong_text("7.1", "without_parent"))
    assert trace("7.1") == f"7.1: {spec.check_of('7.1').NO_TRACE}"
    assert "explain" in trace("A1.1")  # a kernel runs in the interpreter: no variables
    assert "trace" not in str(words.next_help("A1.1", {"failed": 99, "hints": 0}))
    assert "trace" not in messages.next_help(spec.get("A1.1"))
    assert "trace" not in messages.next_help(spec.get("7.1"))
    assert "trace" in messages.next_help(spec.get("7.2"))
    for failed in (1, 99):
        said = str(words.next_help("7.1", {"failed": failed, "hints": 0}))
        assert "explain" in said and "trace" not in said
        assert "trace" in str(words.next_help("7.2", {"failed": failed, "hints": 0}))


def test_an_explanation_needs_no_file_of_the_check(every_chapter):
    for exercise_id in ("7.1", "7.7"):
        name = next(iter(spec.variants(exercise_id, "wrong")))
        answers.save(exercise_id, desk_course.wrong_text(exercise_id, name))
        said = explain(exercise_id)
        assert "drive()" not in said and "spec" not in said
    assert spec.check_of("7.7").HOW in said


def test_a_later_call_is_not_blamed_for_what_an_earlier_one_returned(every_chapter):
    text = spec.file_of("3.4", "reference").read_text()
    assert text.count(", data[cut:]\n") == 1
    answers.save("3.4", text.replace(", data[cut:]\n", ", data[cut:][1:]  # loses a byte\n"))
    said = trace("3.4")
    assert "call 1 of take_text() returned ('', b'')\nours returned ('', b'\\xed')" in said, said


def test_names_are_those_that_the_text_gives():
    text = '''"""Some words, length and end. Call the sum total.

    Scores are scores_TL; keep `kept`."""


def answer(q_TK, size):  # L is the length
    """Says nothing of half."""
    given = 1
'''
    found = stated(text)
    assert {"total", "scores_TL", "kept", "L", "given"} <= found
    assert not {"length", "end", "half", "q_TK", "size", "words"} & found


def test_a_long_value_is_shown_by_its_length_and_its_beginning():
    assert short(list(range(200))) == "200 of these, the first: 0"
    assert short([1, 2]) == "[1, 2]"


def test_a_right_answer_is_told_so(every_chapter):
    answers.save("0.2", desk_course.right_text("0.2"))
    with pytest.raises(ValueError, match=r"right on all \d+ inputs"):
        explain("0.2")
    assert "0.2" not in progress.load()["exercises"]


def test_a_fault_of_the_recorder_is_not_the_learner_s(every_chapter, monkeypatch):
    from exercises.grading import frames, wire

    encode = wire.encode

    def breaks(value):
        if getattr(value, "shape", None) == (4, 1):
            raise RuntimeError("a fault of ours")
        return encode(value)

    recorder = frames.Recorder(example)
    monkeypatch.setattr(wire, "encode", breaks)
    with recorder:
        assert example(torch.ones(4)) == 4.0
    monkeypatch.undo()
    (call,) = recorder.calls
    assert set(wire.decode(call["locals"])) == {"row_4", "return"}
    assert recorder.faults == ["column_41 (RuntimeError: a fault of ours)"]


def example(row_4):
    column_41 = row_4[:, None]
    return float(column_41.sum())


def test_trace_says_that_a_fault_is_ours(every_chapter, monkeypatch):
    answers.save("0.2", desk_course.wrong_text("0.2", "divides"))
    failing = shrink.find("0.2")
    assert failing.result.faults == []
    failing.result.faults.append("out (RuntimeError: x)")
    monkeypatch.setattr(shrink, "find", lambda _: failing)
    said = trace("0.2")
    assert "could not record out (RuntimeError: x): a fault of the course, not of your" in said


def test_a_result_that_the_grader_cannot_read_is_its_own_fault(monkeypatch):
    from exercises.grading import faults

    def breaks(value):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(faults.wire, "encode", breaks)
    with pytest.raises(faults.Unsendable) as caught:
        faults.sendable(1)
    found = faults.describe(caught.value, "answer.py", None)
    assert found["id"] == "grader" and "a fault of the course, not yours" in found["message"]


@pytest.mark.parametrize("exercise_id, name, most", [
    ("6.1", "same_list_twice", 2), ("6.2", "one_table_for_both", 3),
    ("6.8", "abort_frees_nothing", 2),
])  # fmt: skip
def test_a_list_of_calls_is_shown_call_by_call_and_as_few_as_it_takes(
    every_chapter, exercise_id, name, most
):
    answers.save(exercise_id, desk_course.wrong_text(exercise_id, name))
    failing = shrink.find(exercise_id)
    case, check = failing.result.case, spec.check_of(exercise_id)
    assert len(case["calls"]) <= most
    said = explain(exercise_id)
    assert f"{len(case['calls'])} calls)" in said.splitlines()[0]
    for number, text in enumerate(check.steps(case), 1):
        assert f"  call {number}: {text}" in said.splitlines()
    ours, yours = (said.partition(f"{side} after call ")[2] for side in ("expected", "got"))
    assert ours.partition("got after")[0] != yours.partition("paste this")[0]


def test_trace_never_aims_at_what_is_nan_in_ours(every_chapter):
    text = spec.fresh_text("6.9")
    line = "    q_SGrK = q_SHK.view"
    zeroed = "    k_SLGK = k_SLGK.masked_fill(empty_SL[:, :, None, None], 0.0)\n"
    answers.save("6.9", text.replace(line, zeroed + line))
    said = trace("6.9")
    assert "the first that differs is v_SLGK" in said and "expected nan" not in said, said


def test_explain_does_not_contradict_a_check_that_said_right(every_chapter, monkeypatch):
    answers.save("6.1", desk_course.wrong_text("6.1", "same_list_twice"))
    assert "says right" not in explain("6.1")
    monkeypatch.setattr(answers, "state", lambda *_: "solved")
    assert explain("6.1").splitlines()[2].startswith("check 6.1 says right")


def test_the_fault_that_check_names_is_the_one_that_is_explained(every_chapter):
    """12.4 with topk and no word about widths: check meets the tie first, a width of 1 is less."""
    text = Path(spec.file_of("12.4", "reference")).read_text(encoding="utf-8")
    text = text.replace("if weight_NK.shape[1] % 4:", "if False:")
    answers.save("12.4", text.replace(".argsort(dim=-1, stable=True)", TOPK).encode())
    said = explain("12.4")
    assert "of the result['keep']: the first entry that differs" in said
    assert "multiple of 4" not in said and "'and back'" not in said.partition("paste")[0]


TOPK = ".topk(4, largest=False).indices"


def test_of_named_parts_and_of_matrices_the_first_that_differs_is_shown():
    matrix = torch.arange(66.0).reshape(6, 11)
    other = matrix.clone()
    other[3, 2] = 0
    want = {"one": torch.zeros(9), "two": (5, matrix)}
    assert first_part(want, {"one": torch.zeros(9), "two": (5, other)}) == "two"
    assert first_part(want["two"], (5, other)) == 1 and first_part(matrix, other) == 3
    assert first_part(matrix[0], other[0]) is None, "a row is shown whole"
    assert first_part({"a": 1, "b": 2}, {"a": 1, "b": 3}) is None, "a few are, too"
    assert first_part(want, {"one": torch.zeros(9)}) is None, "other names"
