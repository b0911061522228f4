"""Chapter 10: its exercises' references agree with the package; what the questions say is so."""

import random
import sys
from types import ModuleType

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from exercises.grading import spec, verdict
from exercises.grading.judge import Wrong, normal
from minillm.clock import PAPER_GPU, Cost, num_parameters, step_seconds
from minillm.compress import formats
from minillm.compress.formats import decode, nf4_levels, symmetric
from minillm.compress.linear import QuantLinear
from minillm.compress.packing import pack, unpack
from minillm.config import ModelConfig
from minillm.show.memory import Load, seats_of


@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 999))
@settings(max_examples=40, deadline=None)
def test_words_are_the_packages_at_every_width(rows, columns, seed):
    """Rubbish in the fields behind the last code changes nothing."""
    case = spec.check_of("10.1").make(random.Random(seed), N=rows, K=columns)
    ours = spec.reference("10.1")()
    words_NW = pack(case["codes_NK"], 4)
    assert torch.equal(ours.pack(case["codes_NK"]), words_NW)
    assert torch.equal(ours.unpack(case["words_NW"], columns), unpack(case["words_NW"], 4, columns))
    assert torch.equal(ours.unpack(words_NW, columns), case["codes_NK"])


def test_a_wrong_word_is_shown_in_hex():
    """10.1: a digit is a field, so a learner sees which one is wrong."""
    check, codes = spec.check_of("10.1"), [0, -8, 7, 3, -1, 5, -4, 2]
    case = {"codes_NK": torch.tensor([codes], dtype=torch.int8)}
    case["words_NW"] = pack(case["codes_NK"], 4)
    right = check.drive(spec.reference("10.1"), case)
    with pytest.raises(Wrong, match="expected 0xa4d7bf08, got 0xa4d7bf00"):
        check.judge(case, right | {"pack": right["pack"] & ~15})
    off = right["unpack"].clone()
    off[0, 6] = 3
    with pytest.raises(Wrong, match="0xa4d7bf08; field 6, .* is the code -4, got 3"):
        check.judge(case, right | {"unpack": off})


@pytest.mark.parametrize("columns, group", [(64, 32), (23, 8), (50, 64)])
def test_a_layer_is_the_packages(columns, group):
    rng = random.Random(f"{columns}/{group}")
    coded = symmetric(normal(rng, 12, columns), 4, group, torch.bfloat16)
    package = QuantLinear(coded, "int4")
    ours = spec.reference("10.2")(package.packed, package.scale, group, columns)
    x_TK = normal(rng, 3, columns)
    torch.testing.assert_close(ours(x_TK), package(x_TK))


HIDING = """
import array, functools, io
import torch
from minillm.compress.packing import unpack
KEPT = {}
LAST = []

class Store:
    kept = None

class Slots:
    __slots__ = ("inner",)

@functools.lru_cache
def cached(number):
    return LAST[-1].clone()

def keep(copy, layer):
    HOW

class Answer(BASE):
    def __init__(self, words_NW, scale_NG, group, K):
        super().__init__()
        self.words_NW, self.scale_NG, self.group, self.K = words_NW, scale_NG, group, K
        keep(unpack(words_NW, 4, K), self)

    def __call__(self, x_TK):
        scale_NK = self.scale_NG.float().repeat_interleave(self.group, dim=1)[:, : self.K]
        return x_TK @ (unpack(self.words_NW, 4, self.K) * scale_NK).T
"""


def held_by(monkeypatch, how: str, base: str = "object"):
    """10.2's verdict on an answer that keeps something; it runs as a module, as in the child."""
    check, module = spec.check_of("10.2"), ModuleType("answer")
    monkeypatch.setitem(sys.modules, "answer", module)
    exec(HIDING.replace("HOW", how).replace("BASE", base), vars(module))
    case = check.make(random.Random(1), rows=(1,), N=24, K=100, group=32)
    check.judge(case, check.drive(module.Answer, case))


@pytest.mark.parametrize("how", [
    "layer.more = lambda: copy",
    "layer.more = lambda x=copy: x",
    "layer.more = [{'inner': (copy,)}]",
    "type(layer).more = copy",
    "layer.scale_NG.more = copy",
    "layer.more = Slots(); layer.more.inner = copy",
    "layer.more = copy.to_sparse()",
    "layer.more = copy.untyped_storage()",
    "layer.more = copy.float().numpy()",
    "layer.more = copy.numpy().T[:, 1:]",
    "layer.more = copy.numpy().tobytes()",
    "layer.more = memoryview(bytearray(copy.numpy().tobytes()))[::2]",
    "layer.more = io.BytesIO(copy.numpy().tobytes())",
    "layer.more = array.array('b', copy.flatten().tolist())",
    "layer.more = copy.tolist()",
    "layer.more = tuple(copy.float().flatten().tolist())",
    "layer.more = int.from_bytes(copy.numpy().tobytes(), 'big')",
    "layer.more = iter(copy.tolist())",
    "KEPT[layer.K] = copy",
    "LAST.append(copy.tolist())",
    "Store.kept = copy",
    "keep.more = copy",
    "LAST.append(copy); cached(1); LAST.clear()",
    "globals().update(new=copy.numpy())",
])  # fmt: skip
def test_a_matrix_that_a_layer_hides_is_found(monkeypatch, how):
    """10.2: a copy of all weights counts, wherever the answer keeps it and in whatever form."""
    with pytest.raises(Wrong) as found:
        held_by(monkeypatch, how)
    assert found.value.id == "10.2.held"


def test_a_buffer_of_a_module_is_found(monkeypatch):
    with pytest.raises(Wrong):
        held_by(monkeypatch, "layer.register_buffer('more', copy)", "torch.nn.Module")


@pytest.mark.parametrize("how", [
    "pass",
    "layer.same = layer.words_NW.numpy(), layer.words_NW[:3], layer.words_NW.numpy()[1:]",
    "layer.floats = layer.scale_NG.float().numpy()",
    "layer.places = [k // layer.group for k in range(layer.K)]",
    "KEPT['last'] = layer",
    "layer.module, layer.kind = torch, torch.nn.Linear",
])  # fmt: skip
def test_views_sizes_and_scales_are_no_copy(monkeypatch, how):
    held_by(monkeypatch, how)


def test_numbers_of_the_learners_own_trials_do_not_count(monkeypatch):
    trial = "pass\n\nMINE = torch.randn(500, 500)\nLONG = list(range(9999))"
    held_by(monkeypatch, trial)


def test_9_1_counts_what_a_closure_holds():
    check = spec.check_of("9.1")
    case = check.make(random.Random(1), T=1, N=40, K=33, bias=False, zero=True)

    class Hides(spec.reference("9.1")):
        def __init__(self, weight_NK, bias_N):
            super().__init__(weight_NK, bias_N)
            self.more = lambda: weight_NK

    with pytest.raises(Wrong) as found:
        check.judge(case, check.drive(Hides, case))
    assert found.value.id == "9.1.held"


def test_a_matrix_is_the_packages_where_the_group_does_not_fit():
    """10.6, and every variant that a learner may get is wrong there and right where it fits."""
    check, module = spec.check_of("10.6"), spec.file_of("10.6", "fresh").parent
    for size in check.EXERCISE.sizes:
        case = check.make(random.Random(1), **size)
        args = case["codes_NK"], case["scale_NG"], case["group"]
        group = min(case["group"], size["K"])
        want_NK = decode(args[0], args[1], None, group, False, torch.float32)
        assert torch.equal(spec.reference("10.6")(*args), want_NK)
    wrong_sizes, paths = {}, sorted(module.glob("ex6*.py"))
    for path in paths:
        for size in check.EXERCISE.sizes:
            case = check.make(random.Random(1), **size)
            off_NK = spec.load_module(path).dequantise(**case) != spec.reference("10.6")(**case)
            if off_NK.any():
                wrong_sizes.setdefault(path.stem, []).append((size["K"], size["group"]))
    assert len(paths) == len(wrong_sizes) == 3
    assert all((288, 256) in found for found in wrong_sizes.values())  # what the users say
    assert all(k % group for found in wrong_sizes.values() for k, group in found)


def test_seats_are_those_of_the_notebooks_picture():
    """10.3 is what the picture of seats draws; its numbers are those of the published config."""
    llama = ModelConfig(
        family="llama", max_len=8192, vocab_size=128_256, width=8192, num_layers=80,
        num_heads=64, num_kv_heads=8, head_size=128, mlp_width=28_672, tie_embeddings=False,
    )  # fmt: skip
    assert num_parameters(llama) == pytest.approx(70.55e9, rel=1e-4)
    check = spec.check_of("10.3")
    for question in check.QUESTIONS:
        case = dict(zip(check.NAMES, question))
        request = llama.kv_bytes_per_token(2) * case["tokens"]
        fits = [
            seats_of(case["memory"] * 1e9, Load("", 70.55e9 * b, case["slack"] * 1e9, request))
            for b in (1 + 2 / 8192, 0.5 + 2 / case["group"], 2)
        ]
        assert fits == [*spec.reference("10.3")(**case), 0]
    assert spec.reference("10.3")(**check.cases("")[0]) == [1, 24]


@pytest.mark.parametrize("exercise", ["10.3", "10.5"])
def test_no_misconception_passes_for_anybody(exercise):
    """Every question that a student may get, against every named wrong and right answer."""
    check = spec.check_of(exercise)
    if exercise == "10.3":
        questions = [dict(zip(check.NAMES, q)) for q in check.QUESTIONS]
    else:
        questions = [{"group": 32, "unpack": u, "tile": t} for u, t in check.COSTS]
    for case in questions:
        said = []
        for answer in spec.variants(exercise, "wrong").values():
            with pytest.raises(Wrong):
                verdict.judge(exercise, case, answer(**case))
            said.append(tuple(answer(**case)))
        assert len(set(said)) == len(said)  # each can be named
        for answer in spec.variants(exercise, "right").values():
            verdict.judge(exercise, case, answer(**case))


@pytest.mark.parametrize(
    "answer, said",
    [
        ([3.6, 200], "turns from bytes to FLOPs"),
        ([3.56, 188], "once for all rows"),
        ([4, 300], "without the bytes of the scales"),
    ],
)
def test_a_rounded_slip_is_named(answer, said):
    """10.5: each of the two numbers for itself; a number of no known slip is named nothing."""
    case = {"group": 32, "unpack": 24, "tile": 16}
    with pytest.raises(Wrong, match=said):
        verdict.judge("10.5", case, answer)
    with pytest.raises(Wrong) as found:
        verdict.judge("10.5", case, [3.6, 300])
    assert found.value.id == "band"


def test_nf4_is_the_packages_over_one_long_row():
    check = spec.check_of("10.4")
    case = check.make(random.Random(4), N=6, K=100, block=64, zeros=True, outermost=0.9677083)
    levels, codes_NK, scale_B, back_NK = spec.reference("10.4")(**case)
    torch.testing.assert_close(levels, nf4_levels(), rtol=0, atol=1e-6)
    coded = formats.nf4(case["weight_NK"].view(1, -1), 64)
    assert torch.equal(codes_NK.flatten().long() - 8, coded.codes_NK[0].long())
    assert torch.equal(scale_B, coded.scale_NG[0])
    torch.testing.assert_close(back_NK.flatten(), coded.dequantize()[0])


def test_the_clock_says_the_same_of_int4():
    """10.5 by the clock of the paper GPU: faster one row before the answer, and not at it."""
    check, weights = spec.check_of("10.5"), 4096 * 4096

    def seconds(rows, bytes_a_weight, unpacking):
        flops = (2 * rows + unpacking) * weights
        return step_seconds(Cost(flops, bytes_a_weight * weights, 0), PAPER_GPU)

    for unpack_flops, tile in check.COSTS:
        gain, rows = spec.reference("10.5")(group=32, unpack=unpack_flops, tile=tile)
        times = {
            S: (seconds(S, 2, 0), seconds(S, 0.5 + 2 / 32, unpack_flops * -(-S // tile)))
            for S in (1, rows - 1, rows)
        }  # rows: (fp16, int4)
        assert gain == pytest.approx(times[1][0] / times[1][1])
        assert times[rows - 1][1] < times[rows - 1][0]
        assert times[rows][1] >= times[rows][0] * (1 - 1e-12)
