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


def test_only_a_new_text_that_could_run_is_a_try(course, children):
    def counted(text):
        answers.save("0.2", text)
        done = check("0.2", children)
        return done.entry["attempts"], done.entry["failed"], done.lines()[-1][1]

    wrong = wrong_text("0.2", "divides")
    for text in (
        "def scale_rows(:\n",
        "def other(weights, scale):\n    return weights\n",
        "scale_rows = 3\n",
        "def scale_rows(weights, other):\n    return weights\n",
    ):
        tries, failed, last = counted(text)
        assert (tries, failed) == (0, 0) and last.startswith("mend that first"), text
        assert answers.state("0.2", progress.load()) == "failing"
    assert counted(wrong)[:2] == counted(wrong)[:2] == (1, 1)
    assert counted(wrong + "# again\n")[:2] == (2, 2)
    assert len(progress.load()["exercises"]["0.2"]["tried"]) == 2
    assert counted("def scale_rows(:\n")[:2] == (2, 2)
    assert counted(right_text("0.2"))[:2] == (3, 0)


def test_what_comes_next_stays_on_the_evening_path(course):
    from exercises.desk import status

    told = lambda one: status.after(one).split()[1]
    ids = spec.all_ids()
    assert told("0.1") == next(i for i in ids[1:] if spec.get(i).evening)
    depth = next(i for i in ids if not spec.get(i).evening)
    assert told(depth) == ids[ids.index(depth) + 1]
    assert told(ids[-1]) == "0.1"


def test_the_first_exercise_speaks_of_the_pool_and_of_what_was_returned(course):
    from exercises.desk.explain import explain

    answers.save("0.1", wrong_text("0.1", "new_pool"))
    text = explain("0.1")
    assert "the pool afterwards" in text and "result[" not in text and "drive" not in text
    code = text[text.index("from exercises.notebook") if "import torch" not in text
                else text.index("import torch"):]  # fmt: skip
    assert "(pool, slots, rows, wanted))" in code and code.endswith("print(pool)")
    compile(code, "cell", "exec")
