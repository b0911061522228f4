"""Kernel exercises: what the grader sees of a Triton kernel, and a machine without Triton.

The oracle of an address is plain: a kernel that touches one element too many is caught, one that
touches the last element is not. Everything that needs Triton runs in a child.
"""

import os
import subprocess
import sys

import pytest
import torch

from exercises.desk import answers, cli
from exercises.desk import status as view
from exercises.grading import bounds, kernels, spec
from exercises.grading.runner import Children, grade
from tests.desk_course import untouched_copy

HEAD = "import triton, torch\nimport triton.language as tl\n"
KERNEL = """
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + tl.load(y_ptr + offs, mask=mask), mask=mask)

"""
START = "    add_kernel[(triton.cdiv(n, 64),)](x_N, y_N, out_N, n, 64)\n"
LAUNCH = "def add(x_N, y_N, out_N):\n    n = x_N.numel()\n"

needs_triton = pytest.mark.skipif(not kernels.available(), reason="there is no Triton here")


@pytest.fixture(scope="module")
def children():
    with Children() as kept:
        yield kept


@pytest.fixture
def verdict_of(tmp_path, children):
    """A function: text of an answer to A1.1 -> Report."""

    def grade_it(text: str):
        path = tmp_path / "ex1_add.py"
        path.write_text(HEAD + text, encoding="utf-8")
        return grade("A1.1", path, children=children, seed="here")

    return grade_it


@needs_triton
def test_a_right_kernel_is_right_and_this_process_stays_as_it_was(verdict_of):
    before = {name for name in sys.modules if name.split(".")[0] == "triton"}
    report = verdict_of(KERNEL + LAUNCH + START)
    assert report.status == "right", report.message
    assert {name for name in sys.modules if name.split(".")[0] == "triton"} == before
    assert os.environ.get("TRITON_INTERPRET") is None


@needs_triton
@pytest.mark.parametrize(
    "change, status, message_id, said",
    [
        (("offs < n", "offs < n + 1"), "wrong", "kernel.outside", "behind x_N.*There is a mask"),
        (("ptr + offs, mask=mask", "ptr + offs"), "wrong", "kernel.outside", "give tl.load"),
        (("offs < n", "offs < n - 1"), "wrong", "kernel.leaves", "written by no program"),
        (("tl.program_id(0) * BLOCK", "tl.program_id(0)"), "wrong", "kernel.two", "same element"),
        (("x_ptr + offs", "x_ptr - 1 + offs"), "wrong", "kernel.outside", "before x_N"),
        (("x + tl.load", "x - tl.load"), "wrong", "value", "numbers differ"),
        (("out_ptr + offs", "x_ptr + offs"), "changed inputs", "changed-inputs", "x_N"),
        (("mask = offs", "mask = ofs"), "error", "exception", "NameError.*ofs"),
        (("mask = offs < n", "raise NotImplementedError"), "not started", "not-implemented", ""),
    ],
)
def test_one_slip_gets_its_message(verdict_of, change, status, message_id, said):
    report = verdict_of(KERNEL.replace(*change) + LAUNCH + START)
    assert (report.status, report.message_id) == (status, message_id), report.message
    assert __import__("re").search(said, report.message, 16), report.message


def test_a_mask_that_is_there_is_not_asked_for():
    """Of a tile (2-d), the stride of the rows may be at fault as well."""
    row, tile = torch.tensor([True, False]), torch.tensor([[True, False]])
    assert bounds._advice("behind", row) == bounds.MASKED
    assert bounds._advice("behind", tile) == bounds.MASKED + bounds.STRIDE
    assert bounds._advice("behind", tile | True) == bounds.MASK
    assert bounds._advice("between rows of", tile) == bounds.ROWS


@needs_triton
@pytest.mark.parametrize(
    "body, status",
    [
        ("    out_N.copy_(x_N + y_N)\n", "forbidden"),
        ("    out_N[:] = x_N\n", "forbidden"),
        ("    torch.add(x_N, y_N, out=out_N)\n", "forbidden"),
        (START + "    out_N.add_(0)\n", "forbidden"),
        ("    out_N.numpy()[:] = x_N.numpy() + y_N.numpy()\n", "forbidden"),
        ("    for i in range(n):\n        x_N[i].item()\n", "forbidden"),
        ("    try:\n        x_N + y_N\n    except Exception:\n        pass\n" + START, "forbidden"),
        ("    pass\n", "wrong"),
        ("    add_kernel[(0,)](x_N, y_N, out_N, n, 64)\n", "wrong"),
    ],
)
def test_torch_instead_of_the_kernel_does_not_pass(verdict_of, body, status):
    report = verdict_of(KERNEL + LAUNCH + body)
    assert report.status == status, report.message
    if body == "    pass\n":
        assert report.message_id == "kernel.launch"


@needs_triton
def test_torch_inside_the_kernel_does_not_pass(verdict_of):
    inside = KERNEL.replace(
        "    mask =", "    HERE['out'].copy_(HERE['x'] + HERE['y'])\n    mask ="
    )
    keep = "    HERE.update(x=x_N, y=y_N, out=out_N)\n"
    assert verdict_of("HERE = {}\n" + inside + LAUNCH + keep + START).status == "forbidden"


SUM = "x + tl.load(y_ptr + offs, mask=mask)"
ADD = "(x, tl.load(y_ptr + offs, mask=mask))"
HELPER = "def helper(x, y):\n    return x + y\n\n"


@needs_triton
@pytest.mark.parametrize(
    "head, before, value, said",
    [
        ("", "x.handle.data = 2 * x.handle.data", SUM, "x.handle, the NumPy array"),
        ("", "h = getattr(x, 'han' + 'dle')\n    h.data = 2 * h.data", SUM, "the NumPy array"),
        ("import numpy as npy\n", "pass", "npy.add" + ADD, "npy, which is Python"),
        ("", "pass", "np.add" + ADD, "np, which is Python"),
        ("", "import math", SUM, "`import math`"),
        (HELPER, "pass", "helper" + ADD, r"helper\(\), a plain Python function"),
        ("", "kept = []\n    kept.append(x)", SUM, r"kept.append\(\): Triton makes a tuple"),
        ("", "kept = {}", SUM, "a dict, which Triton cannot compile"),
        ("", "for _ in range(2):\n        break", SUM, "break, which Triton cannot compile"),
    ],
)
def test_a_kernel_that_leaves_the_language_is_refused(verdict_of, head, before, value, said):
    text = KERNEL.replace("    tl.store", f"    {before}\n    tl.store").replace(SUM, value)
    report = verdict_of(head + text + LAUNCH + START)
    assert report.status == "forbidden", report.message
    assert __import__("re").search(said + ".*Triton's language only", report.message)


@needs_triton
def test_what_only_looks_foreign_is_allowed(verdict_of):
    """A name of the kernel's own, an annotation, a second kernel, torch in the launcher."""
    text = KERNEL.replace("x_ptr, y", "x_ptr: torch.Tensor, y").replace("x + tl", "np = tl")
    text = text.replace("tl.store(out_ptr + offs, np = ", "np = ")
    text = text.replace("mask=mask), mask=mask)", "mask=mask)")
    text = text.rstrip() + "\n    tl.store(out_ptr + offs, helper(x, np), mask=mask)\n\n"
    report = verdict_of("@triton.jit\n" + HELPER + text + LAUNCH + START)
    assert report.status == "right", report.message


@needs_triton
def test_room_of_its_own_is_allowed_and_watched(verdict_of):
    first = KERNEL.replace("offs < n", "offs < n + EXTRA").replace("n, BLOCK", "n, EXTRA, BLOCK")
    again = "    room_N = torch.empty_like(out_N)\n"
    again += "    add_kernel[(triton.cdiv(n, 64),)](x_N, y_N, {}, n, 0, 64)\n".format("room_N") * 2
    again += "    add_kernel[(triton.cdiv(n, 64),)](x_N, y_N, out_N, n, 0, 64)\n"
    assert verdict_of(first + LAUNCH + again).status == "right"
    bad = again.replace("room_N, n, 0", "room_N[1:], n, 0")
    report = verdict_of(first + LAUNCH + bad)
    assert report.message_id in ("kernel.outside", "value"), report.message


@needs_triton
def test_a_wrong_kernel_is_named_and_its_help_works(tmp_path, monkeypatch, capsys):
    copy = untouched_copy(tmp_path, ("cha1_triton",))
    monkeypatch.setattr(spec, "ROOT", copy)
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "progress"))
    text = spec.file_of("A1.1", "wrong").read_text("utf-8") + "\n\nadd = no_mask\n"
    (copy / "cha1_triton" / "ex1_add.py").write_text(text, encoding="utf-8")
    assert cli.run(["check", "A1.1"]) == 1
    assert "no mask: the last program reads and writes behind" in capsys.readouterr().out
    assert cli.run(["explain", "a1.1"]) == 0
    said = capsys.readouterr().out
    assert "(N=1), of" in said and "my_answer('A1.1')" in said
    assert "{'out_N': torch.tensor([" in said and "launches" not in said
    assert cli.run(["pack", str(tmp_path / "mine.zip")]) == 0
    assert cli.run(["reset", "A1.1"]) == 0
    assert cli.run(["unpack", str(tmp_path / "mine.zip")]) == 0
    assert answers.read("A1.1").decode() == text


def test_without_triton_it_is_neither_unsolved_nor_a_failure(tmp_path, monkeypatch, capsys):
    copy = untouched_copy(tmp_path, ("cha1_triton",))
    monkeypatch.setattr(spec, "ROOT", copy)
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "progress"))
    find = kernels.importlib.util.find_spec
    nothing = lambda name, *more: None if name == "triton" else find(name, *more)
    monkeypatch.setattr(kernels.importlib.util, "find_spec", nothing)
    mine = copy / "cha1_triton" / "ex1_add.py"
    for text in (mine.read_text("utf-8"), "def add(x_N, y_N, out_N):\n    pass\n"):
        mine.write_text(text, encoding="utf-8")
        report = grade("A1.1", mine)
        assert report.status == "cannot run here" and "Colab" in report.message
        assert cli.run(["check", "A1.1"]) == 0
        (row,) = view.facts(["A1.1"])
        assert (row["state"], row["attempts"]) == ("cannot run here", 0)
        assert view.minutes_left([row]) == 0
    assert "cannot run here" in capsys.readouterr().out


def test_a_twin_runs_where_there_is_no_triton():
    (case, *_) = spec.cases("A1.1", "any")
    output = spec.drive("A1.1", spec.reference("A1.1"), case)
    assert torch.equal(output["out"]["out_N"], case["x_N"] + case["y_N"])
    assert (output["marks"], output["launches"]) == ([], 0)


def test_triton_without_its_interpreter_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", object())
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(RuntimeError, match="TRITON_INTERPRET"):
        kernels.interpreter()


def test_guard_zones_are_seen_without_the_watch_on_addresses():
    def twin_that_overshoots(x_N, y_N, out_N):
        out_N.as_strided((out_N.numel() + 1,), (1,)).fill_(0.0)

    output = spec.drive("A1.1", twin_that_overshoots, spec.cases("A1.1", "any")[0])
    assert output["marks"] == ["writes outside out_N"]


def test_strided_tensors_keep_their_strides_and_their_gaps_are_watched():
    from exercises.grading.bounds import guarded

    wide = torch.arange(12.0).reshape(3, 4)
    region = guarded({"x": wide[:, :2]})["x"]
    assert region.view.stride() == (4, 1) and torch.equal(region.view, wide[:, :2])
    inside = [int(i) - region.first for i in region.ours.nonzero()[0]]
    assert inside == [0, 1, 4, 5, 8, 9]
    assert int(region.room.isnan().sum()) == len(region.room) - 6


def test_pytest_skips_where_there_is_no_triton(tmp_path, monkeypatch):
    untouched_copy(tmp_path, ("cha1_triton",))
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'triton' else find(name, *a)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "exercises"]
    env = os.environ | {"PYTHONPATH": str(tmp_path), "MINILLM_PROGRESS": str(tmp_path / "p")}
    for more in ([], ["--answers=reference"]):
        done = subprocess.run(
            command + more, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "3 skipped" in done.stdout and "3 cannot run here" in done.stdout


@needs_triton
def test_a_far_address_is_told_of_the_same_tensor_every_time():
    """Names of mistakes are compared between processes: the layout must not be the allocator's."""
    from exercises.grading.bounds import guarded

    for _ in range(3):
        tensors = {n: torch.ones(k) for n, k in (("a", 5), ("b", 9000), ("c", 1))}
        regions = list(guarded(tensors).values())
        gaps = [b.start - a.end for a, b in zip(regions, regions[1:])]
        assert all(gap >= 1 << 24 for gap in gaps)  # bytes: no test reaches so far
        assert [r.start % 64 for r in regions] == [0, 0, 0]
        assert all(torch.equal(r.view, t) for r, t in zip(regions, tensors.values()))


@needs_triton
def test_what_wrong_kernels_give_is_known_for_one_seed_only(children):
    wrong = spec.file_of("A1.2", "wrong")
    for seed in ("one", "two"):
        report = grade("A1.2", wrong, entry="rows_side_by_side", seed=seed, children=children)
        assert report.equals == "rows_side_by_side", seed
    inputs, outputs = children.known["A1.2"]
    assert inputs[-1] == "two" and "rows_side_by_side" in outputs
