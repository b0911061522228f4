"""Chapter 08: its references agree with the package, its hunts fail where they must, its text."""

import random

import pytest
import torch

import minillm
from exercises.desk.trace import reference_calls, stated
from exercises.grading import spec
from exercises.grading.judge import Wrong, normal
from minillm.compress import formats
from minillm.show import numbers

SHAPES = [(1, 5, 2), (3, 64, 32), (4, 23, 8), (2, 100, 64)]  # rows, columns, group


def weights(rows, columns, seed=0):
    """Normal weights, one outlier, one row with one sign."""
    weight_NK = normal(random.Random(f"{rows}/{columns}/{seed}"), rows, columns)
    weight_NK[0, columns // 2] = 30.0
    weight_NK[-1] = weight_NK[-1].abs() + 0.01
    return weight_NK


# The exercises' step is max / 127 and max / 7, the package's 2 max / 255 and 2 max / 15. With the
# exercise's scales given to it, the package must make the same codes and the same values.


def by_package(weight_NK, scale_NG, bits, group):
    codes_NK = formats.encode(weight_NK, scale_NG, None, bits, group)
    return codes_NK, formats.decode(codes_NK, scale_NG, None, group, False, torch.float32)


@pytest.mark.parametrize("rows, columns, group", SHAPES)
def test_int8_of_a_tensor_is_the_packages_with_the_same_scale(rows, columns, group):
    weight_NK = weights(rows, columns)
    codes, scale, back = spec.reference("8.1")(weight_NK)
    want_codes, want_back = by_package(weight_NK.view(1, -1), scale.view(1, 1), 8, rows * columns)
    assert torch.equal(codes.view(1, -1), want_codes)
    assert torch.equal(back.view(1, -1), want_back)
    assert int(codes.abs().max()) == 127


@pytest.mark.parametrize("rows, columns, group", SHAPES)
def test_int4_groups_are_the_packages_with_the_same_scales(rows, columns, group):
    weight_NK = weights(rows, columns)
    codes_NK, scale_NG, back_NK = spec.reference("8.3")(weight_NK, group)
    want_codes, want_back = by_package(weight_NK, scale_NG, 4, group)
    assert torch.equal(codes_NK, want_codes) and torch.equal(back_NK, want_back)
    assert scale_NG.shape == formats.symmetric(weight_NK, 4, group).scale_NG.shape
    ratio = formats.symmetric(weight_NK, 4, group).scale_NG / scale_NG
    torch.testing.assert_close(ratio, torch.full_like(ratio, 14 / 15))


@pytest.mark.parametrize("case", spec.cases("8.2", 1) + spec.cases("8.2", 2))
def test_asymmetric_codes_are_the_packages(case):
    """Ours are 0 .. 255, the package's -128 .. 127; the convention is the same."""
    codes, scale, zero, back = spec.reference("8.2")(**case)
    coded = formats.asymmetric(case["x"].view(1, -1), 8, None)
    torch.testing.assert_close(scale, coded.scale_NG[0, 0])
    assert zero == int(coded.zero_NG) + 128
    assert torch.equal(codes.view(1, -1).int(), coded.codes_NK.int() + 128)
    torch.testing.assert_close(back.view(1, -1), coded.dequantize())


def test_the_hunts_mend_is_the_package_with_the_same_scales():
    case = spec.cases("8.7", 3)[2]
    weight_NK, group = case["weight_NK"], case["group"]
    largest_NG = weight_NK.unflatten(1, (-1, group)).abs().amax(-1)
    scale_NG = formats.store_scale(largest_NG / 7, torch.float32)
    _, want_NK = by_package(weight_NK, scale_NG, 4, group)
    torch.testing.assert_close(spec.reference("8.7")(weight_NK, group), want_NK)


@pytest.mark.parametrize("rows, columns, group", SHAPES)
def test_no_weight_is_off_by_more_than_half_a_step(rows, columns, group):
    weight_NK = weights(rows, columns)
    ulp_NK = weight_NK.abs() * 2**-22
    codes, scale, back = spec.reference("8.1")(weight_NK)
    assert ((back - weight_NK).abs() <= scale / 2 + ulp_NK).all()
    _, scale_NG, back_NK = spec.reference("8.3")(weight_NK, group)
    step_NK = formats.spread(scale_NG, group, columns)
    assert ((back_NK - weight_NK).abs() <= step_NK / 2 + ulp_NK).all()
    _, scale, _, back = spec.reference("8.2")(weight_NK)
    assert ((back - weight_NK).abs() <= scale / 2 * (1 + 1e-5) + ulp_NK).all()


@pytest.mark.parametrize("student", ["", "kim", "lee"])
def test_the_largest_errors_are_those_of_a_fine_grid(student):
    case = spec.cases("8.6", student)[0]
    w = torch.linspace(-case["low"], case["high"], 40_001, dtype=torch.float64)
    found = []
    for step, first in (
        (case["high"] / 127, 0), (case["high"] / 7, 0),
        ((case["high"] + case["low"]) / 15, -case["low"]),
    ):  # fmt: skip
        back = ((w - first) / step).round() * step + first
        found.append(float((back - w).abs().max()))
    assert found == pytest.approx(spec.reference("8.6")(**case), rel=0.01)


@pytest.mark.parametrize("student", ["", "kim", "lee"])
def test_an_outlier_makes_so_many_zeros(student):
    case = spec.cases("8.4", student)[0]
    row = torch.randn(200_000, generator=torch.Generator().manual_seed(1)).clamp(-4, 4)
    found = []
    for largest in (4.0, float(case["outlier"])):
        codes_NK, _ = by_package(row[None], torch.tensor([[largest / 7]]), 4, len(row))
        found.append(float((codes_NK == 0).float().mean()))
    assert found == pytest.approx(spec.reference("8.4")(**case), abs=0.005)


def test_e4m3_by_hand_is_torchs():
    """Every code, every middle between two of them, and many random numbers."""
    by_hand, codes = spec.reference("8.5"), numbers.e4m3_values()
    assert len(codes) == 253 and float(codes.max()) == 448
    generator = torch.Generator().manual_seed(5)
    some = torch.randn(20_000, generator=generator) * torch.logspace(-4, 2, 20_000)
    for x in (codes, (codes[1:] + codes[:-1]) / 2, some.clamp(-448, 448)):
        assert torch.equal(by_hand(x), x.to(torch.float8_e4m3fn).float())
    assert torch.equal(by_hand(codes), codes)
    near = codes.abs() < 448 / 200
    assert 0.5 <= float(near.float().mean()) < 0.55, "half of the values, as the text says"


# What each variant of the hunt does wrong, and where it is right.


@pytest.fixture
def variants():
    folder = spec.file_of("8.7", "fresh").parent
    load = lambda name: spec.load_module(folder / name).through_int4
    return {name: load(f"ex7{name}.py") for name in ("", "_b", "_c")}


def test_every_variant_is_right_on_most_checkpoints(variants):
    """Groups that are symmetric, without zeros, all alike: no fault shows."""
    half_g = torch.tensor([0.3, 1.1, 2.7])
    weight_NK = torch.cat([half_g, -half_g]).repeat(4, 3)
    want_NK = spec.reference("8.7")(weight_NK, 6)
    for name in ("", "_b"):
        torch.testing.assert_close(variants[name](weight_NK, 6), want_NK)
    torch.testing.assert_close(variants["_c"](weight_NK, 18), spec.reference("8.7")(weight_NK, 18))


def test_each_variant_has_its_own_fault(variants):
    zeros_NK = torch.tensor([[0.0, 0, 3, -7]])
    assert variants[""](zeros_NK, 2).isnan().any()
    positive_NK = torch.tensor([[0.0, 7, -7, 7]])
    assert variants["_b"](positive_NK, 2)[0].tolist() == [0, 3.5, -7, 7], "half of the largest"
    columns_NK = torch.tensor([[1.0, 7, 700, 300]])
    assert variants["_c"](columns_NK, 2)[0].tolist() == [0, 0, 700, 300], "large ones erase others"
    for name in ("_b", "_c"):
        assert variants[name](zeros_NK, 2).isfinite().all()
    for name in variants:
        text = spec.file_of("8.7", "fresh").with_name(f"ex7{name}.py").read_text()
        assert "#" not in text, "a comment could give it away"


# What the grader says.


def test_subtracting_zero_from_uint8_is_explained():
    case = {"x": torch.tensor([-5.0, 2.0, 0.1])}
    codes, scale, zero, _ = spec.reference("8.2")(**case)
    with pytest.raises(Wrong, match="wraps round") as found:
        spec.check_of("8.2").judge(case, (codes, scale, zero, (codes - zero) * scale))
    assert found.value.id == "8.2.wrap"
    with pytest.raises(Wrong) as found:
        spec.check_of("8.2").judge(case, (codes, scale, zero, codes.float() * scale))
    assert found.value.id == "value", "another mistake is not called a wrap"


def test_a_tiny_group_of_the_hunt_is_judged_and_shown_as_it_is():
    case = {"weight_NK": torch.tensor([[0.0, 0, 1e-6, 3e-7, 9, 4]]), "group": 2}
    want_NK = spec.reference("8.7")(**case)
    spec.check_of("8.7").judge(case, want_NK * (1 + 1e-6))
    other_NK = want_NK.clone()
    other_NK[0, 2] += 1e-8
    with pytest.raises(Wrong) as found:
        spec.check_of("8.7").judge(case, other_NK)
    assert found.value.index == (0, 2) and found.value.expected == pytest.approx(1e-6)


def test_trace_has_a_name_wherever_the_grader_offers_it():
    """Offered: everywhere but where the check says why not."""
    for number in (1, 2, 3, 5, 7):
        exercise_id = f"8.{number}"
        case = spec.cases(exercise_id, 1)[0]
        named = stated(spec.fresh_text(exercise_id))
        ours = reference_calls(exercise_id, case)[0]["locals"]
        assert named & set(ours) or spec.no_trace(exercise_id), exercise_id


# What the text says.


def row_of(count=256, seed=0):
    return torch.randn(count, generator=torch.Generator().manual_seed(seed))


def off(back, w):
    return float((back - w).norm() / w.norm())


def test_int8_wins_on_clean_weights_and_e4m3_beside_an_outlier():
    for size, int8_wins in ((4, True), (8, True), (16, False), (128, False)):
        row_K = torch.cat([torch.tensor([float(size)]), row_of(4095).clamp(-4, 4)])
        int8 = formats.symmetric(row_K[None], 8, None).dequantize()[0]
        eighth = numbers.hold(row_K, "E4M3").back_K
        assert (off(int8[1:], row_K[1:]) < off(eighth[1:], row_K[1:])) == int8_wins
        assert 0.02 < off(eighth[1:], row_K[1:]) < 0.03


def test_the_relative_error_of_e4m3_is_at_most_a_seventeenth():
    x = torch.logspace(-6, 8.8, 200_000, base=2, dtype=torch.float64).float()
    worst = float(((spec.reference("8.5")(x) - x).abs() / x).max())
    assert 1 / 17 * 0.999 < worst <= 1 / 17 + 1e-6


def test_zero_points_help_one_sided_numbers():
    silu_NK, both_NK = torch.nn.functional.silu(row_of(4096))[None], row_of(4096)[None]
    gain = lambda w, bits: (
        off(formats.symmetric(w, bits, None).dequantize(), w)
        / off(formats.asymmetric(w, bits, None).dequantize(), w)
    )
    assert -0.28 < float(silu_NK.min()) < -0.27
    assert gain(silu_NK, 8) > 1.5 and gain(silu_NK, 4) > 1.5
    assert 0.8 < gain(both_NK, 8) < 1.2


def test_groups_and_what_another_bit_would_buy():
    weight_NK = row_of(16 * 4096).view(16, 4096)
    error = lambda bits, group: off(
        formats.symmetric(weight_NK, bits, group).dequantize(), weight_NK
    )
    found = [error(4, group) for group in (4096, 256, 128, 64, 32, 16)]
    assert found == sorted(found, reverse=True), "smaller groups are better"
    assert error(5, 4096) < error(4, 16), "5.0 bits each: the whole bit is the better buy"


def test_sizes_of_a_7b_model():
    size = lambda group: 7e9 * (4 + 16 / group) / 8 / 1e9
    assert (round(size(128), 2), round(size(32), 2)) == (3.61, 3.94)
    tiny = minillm.load("tiny", dtype="fp32", device="cpu")[0]
    from minillm.compress.compare import bits_per_weight
    from minillm.compress.quant import quantize

    for group in (128, 32):
        assert bits_per_weight(quantize(tiny, "int4", group)) == pytest.approx(4 + 32 / group)


def test_limits_of_16_bits():
    assert torch.tensor(70_000.0).half().isinf() and torch.finfo(torch.float16).max == 65_504
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    assert (one * 256 + one) == 256


def test_one_matrix_of_tiny_has_an_outlier():
    model = minillm.load("tiny", dtype="fp32", device="cpu")[0]
    share = {}
    for i, layer in enumerate(model.layers):
        w = layer.mlp.down.weight
        row_K = w.reshape(-1)
        share[i] = numbers.zero_share(row_K, numbers.hold(row_K, "int4"))
        grouped = formats.symmetric(w, 4, 64).dequantize()
        assert float((grouped == 0).float().mean()) < share[i]
    assert share[5] > 0.85 and max(v for i, v in share.items() if i != 5) < 0.6
