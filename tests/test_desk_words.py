"""What is said after a grading and in `ask`: its order, what is counted, what is known again."""

from desk_course import children, course, right_text, wrong_text

from exercises.desk import answers, help, progress
from exercises.desk.checking import check
from exercises.grading import spec


def test_after_the_first_right_one_nothing_is_counted_and_a_known_text_is_solved(course, children):
    for text in (wrong_text("0.2", "divides"), right_text("0.2"), "scale_rows = None\n"):
        answers.save("0.2", text)
        check("0.2", children)
    data = progress.load()
    assert data["exercises"]["0.2"]["attempts"] == 2
    assert answers.state("0.2", data) == "failing"
    answers.save("0.2", right_text("0.2"))
    assert answers.state("0.2", progress.load()) == "solved"
    assert "nothing to park" in help.park("0.2")
    assert not progress.load()["exercises"]["0.2"]["parked"]


def test_ask_before_the_beginning_and_without_the_statement_twice(course, children):
    block = help.ask("0.2", check("0.2", children).lines())
    assert "not changed anything yet" in block
    first_line = spec.fresh_text("0.2").splitlines()[0].strip('"')
    answers.save("0.2", spec.fresh_text("0.2") + "\n# mine\n")
    block = help.ask("0.2", check("0.2", children).lines())
    assert "# mine" in block and block.count(first_line) == 1


def test_what_it_does_comes_first_and_explain_is_the_next_help(course, children):
    answers.save("0.2", wrong_text("0.2", "divides"))
    styles, lines = zip(*check("0.2", children).lines())
    assert lines[1].startswith("Yours does this: ") and "expected" in lines[3]
    assert "first difference" in lines[4]
    assert "explain 0.2" in lines[-1] and "trace" in lines[-1]
