"""One answer, graded: what every way of failing is called, and that nothing outlives its child."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
import torch

from exercises.grading import spec
from exercises.grading.children import CAN_FORK
from exercises.grading.limits import Limits
from exercises.grading.processes import REPOSITORY
from exercises.grading.runner import Children, GraderError, grade, run_answer

RIGHT = "def scale_rows(weights, scale):\n    return weights * scale[:, None]\n"
KINDS = ["fork", "spawn"] if CAN_FORK else ["spawn"]


@pytest.fixture(scope="module")
def children():
    with Children() as them:
        yield them


@pytest.fixture
def write(tmp_path):
    """A function: text of an answer -> its path."""

    def save(text: str, name: str = "answer.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return save


def check(tmp_path, name: str, text: str) -> None:
    """An exercise 90.N of a course of our own, with its reference."""
    folder = tmp_path / "course" / "ch90_demo"
    for kind in ("check", "reference", "wrong", "fresh"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    number, reference, head = text.split("\n---\n")
    facts = (
        "from exercises.grading.spec import Exercise\n"
        f"EXERCISE = Exercise(id='90.{number.strip()}', title='t', minutes=1, difficulty=1, "
        f"hints=('a', 'b', 'c'), {name})\n"
    )
    (folder / "check" / f"ex{number.strip()}.py").write_text(facts + head)
    (folder / "reference" / f"ex{number.strip()}.py").write_text(reference)
    (folder / "fresh" / f"ex{number.strip()}.py").write_text("def f(x_I):\n    ...\n")
    (folder / "wrong" / f"ex{number.strip()}.py").write_text("")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of our own: a function that adds an exercise to it."""
    monkeypatch.setattr(spec, "ROOT", tmp_path / "course")
    caches = (spec.check_of, spec.reference)
    for cache in caches:
        cache.cache_clear()
    yield lambda facts, text: check(tmp_path, facts, text)
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize("arguments, named", [
    ("w, s", "unexpected keyword argument 'weights'"),
    ("weights, factor", "unexpected keyword argument 'scale'"),
    ("weights, scale, more", "'more'"),
    ("", "unexpected keyword"),
])  # fmt: skip
def test_arguments_with_other_names_are_told_to_keep_theirs(children, write, arguments, named):
    report = grade("0.2", write(f"def scale_rows({arguments}):\n    return 1\n"), children=children)
    assert (report.status, report.message_id) == ("error", "drive")
    assert named in report.message and "keep the arguments of the exercise" in report.message
    own = "def scale_rows(weights, scale):\n    return len(weights, obj=1)\n"
    assert "keep the arguments" not in grade("0.2", write(own), children=children).message


@pytest.mark.parametrize("kind", KINDS)
def test_right_and_wrong_in_both_kinds_of_children(kind, write):
    with Children(kind) as them:
        right = grade("0.2", write(RIGHT), children=them)
        wrong = grade("0.2", write(RIGHT.replace("*", "/")), children=them)
    assert right.ok and right.message_id == "right" and right.seconds > 0
    assert (wrong.status, wrong.equals, wrong.case, wrong.index) == ("wrong", "divides", 0, (0, 0))
    assert "hint 0.2" in wrong.message and wrong.equals_text in wrong.message
    assert "dividing" in wrong.equals_text and float(wrong.expected) != float(wrong.got)


def test_an_untouched_file_starts_no_process(tmp_path):
    class NoProcess:
        def begin(self, *args):
            raise AssertionError("a process was started")

    fresh = spec.fresh_text("0.2")
    for number, text in enumerate((fresh, fresh.replace("\n", "\r\n"), fresh + "\n\n  \n")):
        path = tmp_path / f"{number}.py"
        path.write_bytes(text.encode())
        assert grade("0.2", path, children=NoProcess()).status == "not started"
    assert grade("0.4", None, children=NoProcess()).status in ("not started", "right", "wrong")
    with pytest.raises(AssertionError, match="process"):
        grade("0.2", tmp_path / "0.py", entry="scale_rows", children=NoProcess())


FAILURES = {
    "def scale_rows(:\n": ("syntax", "syntax", "line 1"),
    "def other():\n    pass\n": ("error", "entry-missing", "scale_rows"),
    "scale_rows = 3\n": ("error", "entry-not-callable", "int"),
    "import nothing_like_this\n": ("error", "exception", "nothing_like_this"),
    "def scale_rows(weights):\n    return weights\n": ("error", "drive", "scale"),
    RIGHT.replace("return", "raise NotImplementedError('later')  #"): (
        "not started", "not-implemented", "later",
    ),
    RIGHT.replace("return", "1 / 0  #"): ("error", "exception", "ZeroDivisionError"),
    RIGHT.replace("return", "pass  #"): ("wrong", "type", "`return` missing"),
    RIGHT.replace("return", "yield"): ("output", "not-plain", "yield"),
    RIGHT.replace("def", "async def"): ("output", "not-plain", "async"),
    RIGHT.replace("return", "raise SystemExit  #"): ("crashed", "exit", "ended the process"),
    RIGHT.replace("return", "raise KeyboardInterrupt  #"): ("error", "exception", "Keyboard"),
    RIGHT.replace("return", "return [") + "]\n": ("wrong", "type", "list"),
    "x = '\\ud800'\n" + RIGHT.replace("return", "raise ValueError(x)  #"): (
        "error", "exception", "ValueError",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", FAILURES)
def test_every_failure_has_its_own_words(text, write, children):
    status, message_id, word = FAILURES[text]
    report = grade("0.2", write(text), children=children)
    assert (report.status, report.message_id) == (status, message_id), report
    assert word in report.message and not report.ok


def test_files_that_cannot_be_read(tmp_path):
    assert grade("0.2", tmp_path / "none.py").message_id == "file-missing"
    assert grade("0.2", tmp_path).message_id == "file"
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    assert grade("0.2", tmp_path / "a.py").message_id == "encoding"
    with pytest.raises(ValueError, match="no exercise 0.77"):
        grade("0.77", tmp_path / "a.py")


def test_a_byte_order_mark_and_crlf_are_no_error(tmp_path, children):
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode())
    assert grade("0.2", path, children=children).ok


def test_the_traceback_has_only_the_learners_lines(write, children):
    path = write("""
        def helper(x):
            return x.nothing

        def scale_rows(weights, scale):
            print("before", end="")
            return helper(weights)
    """)
    report = grade("0.2", path, children=children)
    assert report.status == "error" and report.printed == "before"
    lines = report.traceback.split("\n")
    assert lines == [
        "line 7, in scale_rows: return helper(weights)",
        "line 3, in helper: return x.nothing",
    ]
    assert "line 3" in report.message and "case 1 of 5 (weights [1, 2]" in report.message


@pytest.mark.parametrize("kind", KINDS)
def test_input_finds_nothing(kind, write):
    path = write(RIGHT.replace("return", "input('name?')\n    return"))
    with Children(kind) as them:
        report = grade("0.2", path, children=them)
    assert report.status == "error" and "EOFError" in report.message


def test_a_relative_path_and_its_own_source(write, children, monkeypatch):
    """An answer may look at itself; the child works in another folder."""
    path = write("import inspect\n\n" + RIGHT + "\n\ntext = open(__file__).read()\n")
    path.write_text(path.read_text() + "assert inspect.getsource(scale_rows) in text\n")
    monkeypatch.chdir(path.parent)
    assert grade("0.2", "answer.py", children=children, protect=(path.parent,)).ok
    write("secret", "other.py")
    spy = write(f"text = open({str(path.parent / 'other.py')!r}).read()\n" + RIGHT, "spy.py")
    assert grade("0.2", spy, children=children, protect=(path.parent,)).status == "forbidden"
    assert grade("0.2", spy, children=children).ok


def test_variables_of_a_class(children):
    run = run_answer(
        "4.6", spec.file_of("4.6", "reference"), "s", record_locals=True, children=children,
        sizes=[{"G": 1, "K": 2, "steps": (2, 1), "spare": 1}],
    )  # fmt: skip
    names = [call["function"] for call in run.cases[0].locals]
    assert names == ["__init__", "append", "append"]
    assert "k_TGK" in run.cases[0].locals[1]["locals"]


WITHOUT = """
import os, socket, sys
import psutil  # has modules of its own for every system
sys.path.insert(0, {root!r})
for name in ("fork", "killpg", "setsid", "forkpty", "waitid"):
    delattr(os, name)
del socket.send_fds, socket.recv_fds
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[name] = None
import exercises.grading.proof, exercises.grading.server
from exercises.grading import children, limits
from exercises.grading.runner import Children, grade
limits.apply(limits.Limits())
assert Children().kind == "spawn" and not children.CAN_FORK
print(grade("0.2", {right!r}).status)
print(grade("0.2", {endless!r}, limits=limits.Limits(cpu_s=0.5)).status)
"""


def test_systems_without_fork_groups_and_limits(write):
    """What Windows lacks is taken away: the parent's side works all the same."""
    endless = write(RIGHT.replace("return", "while True: pass\n    #"), "endless.py")
    done = run_python(
        WITHOUT.format(root=str(REPOSITORY), right=str(write(RIGHT)), endless=str(endless))
    )
    assert done.stdout.split() == ["right", "timeout"], done.stderr


def test_the_seed_decides_the_cases(write, children):
    path = write(RIGHT.replace("*", "/"))
    one, two = (grade("0.2", path, seed="s", children=children) for _ in "ab")
    other = grade("0.2", path, children=children)
    assert (one.expected, one.seed) == (two.expected, "s") and one.expected != other.expected


def test_outputs_variables_and_sizes_for_explain_and_trace(write, children):
    path = write("""
        def scale_rows(weights, scale):
            scale_O1 = scale[:, None]
            if len(scale) == 3:
                raise ValueError("three")
            out = weights * scale_O1
            out += 0
            return out
    """)
    sizes = [{"O": 2, "I": 2}, {"O": 3, "I": 1}, {"O": 1, "I": 5}]
    run = run_answer(
        "0.2", path, "seed", sizes=sizes, record_locals=True, stop=False, children=children
    )
    first, second, third = run.cases
    assert torch.equal(first.output, first.case["weights"] * first.case["scale"][:, None])
    assert second.failure["message"] == "ValueError: three" and not second.ran
    assert run.failure["case"] == 1 and third.ran and third.case["weights"].shape == (1, 5)
    (call,) = first.locals
    assert call["function"] == "scale_rows"
    assert set(call["locals"]) == {"weights", "scale", "scale_O1", "out", "return"}
    assert torch.equal(call["locals"]["return"], first.output)
    assert torch.equal(call["locals"]["scale_O1"], first.case["scale"][:, None])
    assert torch.equal(first.inputs["weights"], first.case["weights"])


def test_equal_shapes_get_the_same_objects(write, children):
    path = write("""
        seen = []

        def scale_rows(weights, scale):
            seen.append((tuple(weights.shape), id(weights), weights.data_ptr()))
            print(seen)
            return weights * scale[:, None]
    """)
    report = grade("0.2", path, children=children)
    assert report.ok
    seen = eval(report.printed.strip().split("\n")[-1])
    assert seen[1] == seen[4] and len(seen) == 5


@pytest.mark.parametrize("kind", KINDS)
def test_integer_exercises_leave_torch_alone(kind, tmp_path):
    """Neither the parent nor a spawned child imports it; a reference passes."""
    program = f"""
        import sys
        sys.path.insert(0, {str(REPOSITORY)!r})
        from pathlib import Path
        from exercises.grading import spec
        from exercises.grading.runner import Children, grade
        path = Path({str(tmp_path)!r}, "a.py")
        text = spec.file_of("1.4", "reference").read_text()
        path.write_text(text + "\\nimport sys\\nprint('torch' in sys.modules)\\n")
        with Children({kind!r}) as them:
            report = grade("1.4", path, children=them)
        print(report.status, report.printed.strip(), "torch" in sys.modules)
    """
    done = run_python(program)
    assert not spec.get("1.4").torch
    assert done.stdout.split() == ["right", str(kind == "fork"), "False"], done.stderr


def run_python(program: str, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
        timeout=200, cwd=os.sep, **options,
    )  # fmt: skip


COPY = "def f(x_I):\n    return x_I + 1\n"
MAKE = """
from exercises.grading.judge import normal


def make(rng):
    return {"x_I": normal(rng, 3)}


"""
FACTS = "kind='code', entry='f'"


def test_inputs_that_may_change(course, write, children):
    path = write("def f(x_I):\n    x_I += 1\n    return x_I.clone()\n")
    course(FACTS, f"1\n---\n{COPY}\n---\n{MAKE}")
    assert grade("90.1", path, children=children).status == "changed inputs"
    course(FACTS + ", edits=('x_I',)", f"2\n---\n{COPY}\n---\n{MAKE}")
    assert grade("90.2", path, children=children).ok


def test_single_operators_can_be_forbidden(course, write, children):
    course(FACTS + ", forbid=('add',)", f"1\n---\n{COPY}\n---\n{MAKE}")
    assert grade("90.1", write(COPY), children=children).status == "forbidden"
    assert grade("90.1", write(COPY.replace("+ 1", ".add_(1)")), children=children).status == (
        "forbidden"
    )
    assert grade("90.1", write(COPY.replace("+ 1", "- -1")), children=children).ok


def test_only_the_named_modules_of_the_engine(course, write, children):
    """The check itself may use them all, before and while the answer runs."""
    head = MAKE + (
        "from minillm.config import ModelConfig\n"
        "def drive(answer, case):\n"
        "    from minillm.cache.simple import StripCache\n"
        "    from exercises.grading.judge import normal\n"
        "    return answer(**case), StripCache.__name__\n"
    )
    course(FACTS + ", uses=('ops',)", f"1\n---\n{COPY}\n---\n{head}")
    good = ["from minillm import ops", "import minillm.ops", "from minillm.ops import rms_norm"]
    for line in good:
        report = grade("90.1", write(line + "\n" + COPY), children=children)
        assert report.ok, (line, report)
    bad = [
        "import minillm.model",
        "from minillm import model",
        "from minillm import Transformer",
        "from minillm.cache import simple",
        "import importlib; importlib.import_module('minillm.model')",
        "import sys; sys.modules['minillm.config']",
        "import minillm; minillm.load",
    ]
    for line in bad:
        report = grade("90.1", write(line + "\n" + COPY), children=children)
        assert report.status in ("forbidden", "error"), (line, report)
    report = grade("90.1", write("import minillm.config\n" + COPY), children=children)
    assert "minillm.ops" in report.message


def test_a_broken_check_is_never_right(course, write, children):
    course(FACTS, f"1\n---\n{COPY}\n---\ndef make(rng):\n    raise OSError('broken check')\n")
    with pytest.raises((GraderError, OSError), match="broken check"):
        grade("90.1", write(COPY), children=children)


def test_a_judge_that_trips_over_a_result_says_wrong(course, write, children):
    head = MAKE + "def judge(case, output):\n    a, b = output\n"
    course(FACTS, f"1\n---\n{COPY}\n---\n{head}")
    report = grade("90.1", write("def f(x_I):\n    return 7\n"), children=children)
    assert (report.status, report.message_id) == ("wrong", "form")


def test_many_threads_share_the_children(write):
    paths = [write(RIGHT.replace("*", "*" if n % 2 else "/"), f"{n}.py") for n in range(12)]
    with Children() as them, ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda p: grade("0.2", p, children=them), paths))
    assert [r.ok for r in reports] == [bool(n % 2) for n in range(12)]


def descendants() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def gone(pid: int, seconds: float = 60.0) -> bool:
    """Whether a process ends (or is only a zombie) soon."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


ENDLESS = """
    import os
    open("pid", "w").write(str(os.getpid()))
    print(os.getpid(), flush=True)

    def scale_rows(weights, scale):
        while True:
            pass
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_that_is_ended_is_gone(kind, write):
    with Children(kind) as them:
        report = grade("0.2", write(ENDLESS), children=them, limits=Limits(cpu_s=0.5))
        assert report.status == "timeout" and gone(int(report.printed))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_child_outlives_its_parent(kind, number, tmp_path):
    """Ctrl-C, and a parent that dies without a word."""
    answer = tmp_path / "answer.py"
    loop = "open('started', 'w').close()\n    while True: pass\n    #"
    answer.write_text(RIGHT.replace("return", loop))
    program = f"""
        import sys, tempfile
        sys.path.insert(0, {str(REPOSITORY)!r})
        tempfile.tempdir = {str(tmp_path)!r}
        from exercises.grading.runner import Children, grade
        with Children({kind!r}) as them:
            grade("0.2", {str(answer)!r}, children=them)
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 100
    while not list(tmp_path.glob("exercise-*/started")) and time.monotonic() < deadline:
        time.sleep(0.05)
    family = psutil.Process(parent.pid).children(recursive=True)
    pids = [p.pid for p in family]
    assert len(pids) == (2 if kind == "fork" else 1)
    parent.send_signal(number)
    parent.wait(60)
    parent.stderr.close()
    assert all(gone(pid) for pid in pids)


@pytest.mark.skipif(not CAN_FORK, reason="the fork server is for Linux")
def test_a_server_that_was_killed_is_replaced(write):
    with Children("fork") as them:
        assert grade("0.2", write(RIGHT), children=them).ok
        (server,) = [p for p in descendants() if p.pid == them._server.process.pid]
        server.kill()
        server.wait(10)
        reports = [grade("0.2", write(RIGHT), children=them) for _ in range(2)]
    assert reports[-1].ok


def test_closing_ends_what_runs(write):
    them, found = Children(), []

    def run():
        try:
            found.append(grade("0.2", write(ENDLESS), children=them).status)
        except RuntimeError as error:
            found.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(1)
    them.close()
    thread.join(60)
    assert found and found[0] != "right"
    with pytest.raises(RuntimeError, match="closed"):
        grade("0.2", write(RIGHT), children=them)


def test_wrong_kinds_of_children_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="spawn"):
        Children("thread")
    monkeypatch.setenv("MINILLM_CHILDREN", "spawn")
    assert Children().kind == "spawn"
