"""Appendix A1, 6.7, 9.7, 10.7: twins against the package, the real compiler, no Triton.

What the proof table covers is not repeated here.
"""

import ast
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from exercises.conftest import id_of
from exercises.desk import names, status
from exercises.grading import kernels, spec
from minillm import no_triton, ops, ptx, show
from minillm.compress import packing

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = ROOT / "notebooks" / "source" / "A1_how_does_a_triton_kernel_think.py"
# The interpreter knows no types of arguments: here they are, for the compiler.
DECODE = {"q_ptr": "*fp32", "k_ptr": "*fp32", "v_ptr": "*fp32", "table_ptr": "*i32",
          "len_ptr": "*i32", "out_ptr": "*fp32", "scale": "fp32", "M": "i32"}  # fmt: skip
HEADS = {"H": 8, "G": 2, "K": 24, "P": 16, "K_BLOCK": 32}
WEIGHTS = {"w_ptr": "*fp16", "x_ptr": "*fp16", "out_ptr": "*fp32"}
ROW = {"x_ptr": "*fp32", "out_ptr": "*fp32"}
ADD = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
INT8 = {"codes_ptr": "*i8", "scale_ptr": "*fp32", "x_ptr": "*fp16", "out_ptr": "*fp32"}
INT4 = {"words_ptr": "*i32", "scale_ptr": "*fp16", "x_ptr": "*fp16", "out_ptr": "*fp32"}
BUILDS = [
    ("A1.1", "reference", "add_kernel", ADD, {"BLOCK": 256}),
    ("A1.1", "right", "_with_block_pointers", ADD, {"BLOCK": 128}),
    ("A1.1", "right", "_two_dimensions", ADD, {"HALF": 512}),
    ("A1.1", "right", "_every_fourth", ADD, {"BLOCK": 64}),
    ("A1.2", "reference", "row_sum_kernel", ROW, {"BLOCK": 256}),
    ("A1.2", "right", "_whole_row", ROW, {"BLOCK": 1024}),
    ("A1.2", "right", "_four_rows", ROW, {"ROWS": 4, "BLOCK": 64}),
    ("A1.3", "reference", "gemv_kernel", WEIGHTS, {"ROWS": 16, "COLS": 64}),
    ("A1.3", "right", "_one_row", WEIGHTS, {"BLOCK": 256}),
    ("A1.3", "right", "_tile", WEIGHTS, {"ROWS": 8, "COLS": 128}),
    ("6.7", "reference", "paged_decode_kernel", DECODE, HEADS),
    ("6.7", "right", "_group", DECODE, HEADS | {"R_BLOCK": 4}),
    ("6.7", "right", "_two_walks", DECODE, {"L_BLOCK": 16, "K_BLOCK": 32}),
    ("9.7", "reference", "int8_gemv_kernel", INT8, {"ROWS": 16, "COLS": 64}),
    ("9.7", "right", "_one_row", INT8 | {"x_ptr": "*fp32"}, {"BLOCK": 256}),
    ("9.7", "right", "_scaled_tile", INT8, {"ROWS": 8, "COLS": 128}),
    ("10.7", "reference", "int4_gemv_kernel", INT4, {"ROWS": 16, "COLS": 64}),
    ("10.7", "right", "_words", INT4, {"ROWS": 8, "WORDS": 16}),
    ("10.7", "right", "_groups", INT4, {"BLOCK": 64}),
]
needs_triton = pytest.mark.skipif(not kernels.available(), reason="there is no Triton here")


def arguments(text: str, name: str) -> list[str]:
    """The names of a kernel's arguments."""
    found = next(n for n in ast.parse(text).body if getattr(n, "name", "") == name)
    return [argument.arg for argument in found.args.args]


@needs_triton
@pytest.mark.parametrize(
    "exercise_id, kind, name, types, constants", BUILDS, ids=[f"{b[0]}-{b[2]}" for b in BUILDS]
)
def test_what_passes_in_the_interpreter_also_compiles(exercise_id, kind, name, types, constants):
    """For a T4: the interpreter lets more through than the compiler."""
    text = spec.file_of(exercise_id, kind).read_text(encoding="utf-8")
    others = [a for a in arguments(text, name) if a not in types and a not in constants]
    made = ptx.compiled_text(text, name, types | dict.fromkeys(others, "i32"), constants)
    assert made["shared"] <= 64 * 1024 and 0 < made["registers"] <= 255
    assert 0 < made["instructions"] < made["lines"]


@needs_triton
def test_what_does_not_compile_is_told():
    text = "import triton\n\n\n@triton.jit\ndef f(x_ptr):\n    y = [i for i in x_ptr]\n"
    with pytest.raises(RuntimeError, match="f does not compile"):
        ptx.compiled_text(text, "f", {"x_ptr": "*fp32"}, {})


def test_instructions_are_what_runs():
    text = (
        ".version 8.0\n// a comment;\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, 5;\n$L_1:\n@%p1 bra $L_1;\n"
    )
    assert ptx.instructions(text) == ["mov.u32 %r1, 5;", "@%p1 bra $L_1;"]


def test_the_twin_of_paged_decode_is_the_packages_attention():
    check, size = spec.check_of("6.7"), spec.get("6.7").sizes[-1]
    case = check.make(random.Random(3), **size)
    spec.reference("6.7")(**case)
    P = size["P"]
    for s, length in enumerate(size["lengths"]):
        blocks = case["block_table_SM"][s, : -(-length // P)].long()
        assert int(blocks.min()) >= 0
        k, v = (case[name][blocks].flatten(0, 1)[:length] for name in ("k_NPGK", "v_NPGK"))
        want = ops.attention(case["q_SHK"][s : s + 1], k, v, case["scale"])
        torch.testing.assert_close(case["out_SHK"][s], want[0])


@pytest.mark.parametrize("number", range(6))
def test_the_twins_of_packed_weights_are_the_package_s_formats(number):
    """9.7 against the plain formula, 10.7 against the codes that compress.packing unpacks."""
    make = lambda i: spec.check_of(i).make(random.Random(number), **spec.get(i).sizes[number])
    eight, four = make("9.7"), make("10.7")
    spec.reference("9.7")(**eight)
    want = eight["codes_NK"].double() * eight["scale_N"].double()[:, None]
    torch.testing.assert_close(eight["out_N"], (want @ eight["x_K"].double()).float())
    spec.reference("10.7")(**four)
    K, group = len(four["x_K"]), four["group"]
    codes = packing.unpack(four["words_NW"], 4, K).double().view(-1, K // group, group)
    want = (codes * four["scale_NG"].double()[:, :, None]).flatten(1) @ four["x_K"].double()
    torch.testing.assert_close(four["out_N"], want.float())


def test_all_that_is_no_request_s_is_nan_or_minus_one():
    size = spec.get("6.7").sizes[-1]
    case = spec.check_of("6.7").make(random.Random(1), **size)
    lengths, P = size["lengths"], size["P"]
    held = (~case["k_NPGK"].isnan()).all(dim=(2, 3))
    assert int(held.sum()) == sum(lengths)
    assert int((case["block_table_SM"] >= 0).sum()) == sum(-(-n // P) for n in lengths)
    assert (case["block_table_SM"][:, -1] == -1).all(), "a walk over the whole table is caught"


def test_blocks_are_powers_of_two_also_when_the_input_shrinks():
    with pytest.raises(ValueError, match="power of two"):
        spec.check_of("6.7").make(random.Random(0), P=3, G=1, share=1, K=2, lengths=(2,))


def test_sixteen_bits_are_too_few_for_the_sums_that_are_asked_for():
    """The wrong answer that adds up in 16 bit is outside of the tolerance by a wide margin."""
    case = spec.check_of("A1.3").make(random.Random(0), **spec.get("A1.3").sizes[3])
    spec.reference("A1.3")(**case)
    half = torch.zeros(len(case["out_O"]), dtype=torch.float16)
    for i, x in enumerate(case["x_I"]):
        half = half + case["w_OI"][:, i] * x
    off = (half.double() - case["out_O"].double()).abs().max() / case["out_O"].abs().max()
    assert off > 100 * 2e-6


def test_the_appendix_has_its_place_everywhere():
    ids = spec.all_ids()
    assert [i for i in ids if i.startswith("A1")] == ids[-3:]
    assert names.one_id("a1.2") == "A1.2" == names.one_id("exercises/cha1_triton/ex2_row_sum.py")
    for chapter in ("a1", "A1", "cha1", "cha1_triton"):
        assert names.many_ids([chapter]) == ["A1.1", "A1.2", "A1.3"]
    assert id_of(spec.learner_file("A1.3")) == "A1.3"
    assert status.TITLES["A1"] in NOTEBOOK.read_text(encoding="utf-8")


@pytest.mark.parametrize("exercise_id", ["A1.1", "A1.2", "A1.3", "6.7", "9.7", "10.7"])
def test_the_hints_end_in_a_skeleton_of_the_reference(exercise_id):
    """Its lines are ours, but for the blank."""
    hint = spec.get(exercise_id).hints[2]
    ours = "".join(spec.file_of(exercise_id, "reference").read_text("utf-8").split())
    ours = ours.replace("(H//G)", "share").replace('"', "'")
    for line in hint.splitlines():
        if "____" not in line and not line.startswith(("#", "length, share")):
            assert "".join(line.split()) in ours, line
    assert hint.count("____") == 1


def test_sectors_and_a_tree():
    assert show.moved_sectors(range(8)) == [0] and show.moved_sectors([7, 8]) == [0, 1]
    assert len(show.moved_sectors(range(0, 256, 32))) == 8
    assert "8 numbers used, 64 moved" in show.sectors({"column": range(0, 256, 32)}, 256).alt
    drawn = show.tree([3, 1, 4, 1, 5, 9, 2, 6])
    assert {t.get_text() for t in drawn.figure.axes[0].texts} >= {"3", "8", "10", "31"}
    hidden = show.programs([[0, 0, 1, 1]], [[False, False, False, True]])
    assert "3 elements written by 2 programs; 1 lanes are masked" in hidden.alt


def test_the_stand_in_for_triton(capsys):
    @no_triton.triton.jit
    def kernel(x_ptr, BLOCK: no_triton.tl.constexpr):
        raise AssertionError("it must not run")

    kernel[(3,)](None, BLOCK=4)
    assert "no Triton" in capsys.readouterr().out
    assert [no_triton.triton.cdiv(n, 8) for n in (8, 9)] == [1, 2]
    assert [no_triton.triton.next_power_of_2(n) for n in (1, 5, 8, 9)] == [1, 8, 8, 16]


def test_the_notebook_runs_where_there_is_no_triton(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u, sys\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'triton' else find(name, *a)\n"
        "sys.modules['triton'] = None  # an import of it fails\n"
    )
    env = os.environ | {"PYTHONPATH": str(tmp_path), "MINILLM_FAST": "1", "MPLBACKEND": "Agg"}
    env |= {"MINILLM_PROGRESS": str(tmp_path / "progress")}
    done = subprocess.run(
        [sys.executable, str(NOTEBOOK)], cwd=tmp_path, env=env, capture_output=True, text=True,
        timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no Triton here: read on" in done.stdout and "nothing is compiled" in done.stdout
    assert "x as long as torch" not in done.stdout
