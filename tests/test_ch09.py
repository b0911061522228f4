"""Chapter 09: its exercises' references agree with the package, and its scoreboard row is int8."""

import random

import pytest
import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, normal
from minillm import quant_ops
from minillm.cache.paged import quantize_tokens
from minillm.compress.formats import Coded
from minillm.compress.linear import QuantLinear


@pytest.mark.parametrize("rows, outputs, columns", [(1, 3, 5), (4, 9, 33)])
def test_a_layer_is_the_packages_with_the_same_codes(rows, outputs, columns):
    rng = random.Random(f"{rows}/{outputs}")
    weight_NK, bias_N = normal(rng, outputs, columns), normal(rng, outputs)
    ours = spec.reference("9.1")(weight_NK, bias_N)
    coded = Coded(ours.codes_NK, ours.scale_N1, None, columns)
    package = QuantLinear(coded, "int8", torch.nn.Parameter(bias_N, requires_grad=False))
    x_TK = normal(rng, rows, columns)
    torch.testing.assert_close(ours(x_TK), package(x_TK))


def test_keys_in_int8_are_those_of_the_pool():
    rng = random.Random(3)
    x_TGK = normal(rng, 9, 2, 16)
    x_TGK[4, 1] = 0
    strip = spec.reference("9.3")(12, 2, 16)
    for piece in x_TGK.split((4, 1, 4)):
        strip.append(piece)
    codes_TGK, scale_TG = quantize_tokens(x_TGK)
    assert torch.equal(strip.read(), codes_TGK * scale_TG[..., None])


@pytest.mark.parametrize("outlier", [None, 6.0])
def test_both_sides_and_the_split_are_near_the_packages(outlier):
    """The package's step is 2 / 255 of the largest number, here it is 1 / 127: 0.4% apart."""
    rng = random.Random(5)
    x_TK, codes_NK = normal(rng, 8, 64), (normal(rng, 12, 64) * 50).round().to(torch.int8)
    scale_N = torch.full((12,), 0.01)
    if outlier is not None:
        x_TK[:, 3] *= 50
        got_TN = spec.reference("9.5")(x_TK, codes_NK, scale_N, outlier)
    else:
        got_TN = spec.reference("9.4")(x_TK, codes_NK, scale_N)[1]
    want_TN = quant_ops.w8a8_matmul(x_TK, codes_NK, scale_N[:, None], outlier)
    # each side is at most half a step from x in every column
    rest_TK = x_TK.masked_fill((x_TK.abs() > (outlier or 1e9)).any(0), 0)
    step_T1 = rest_TK.abs().amax(1, keepdim=True) / 127
    most_TN = step_T1 * (codes_NK.float().abs().sum(1) * scale_N)
    assert ((got_TN - want_TN).abs() <= most_TN + 1e-4).all()
    exact_TN = x_TK @ (codes_NK * scale_N[:, None]).T
    off = (got_TN - exact_TN).norm() / (rest_TK @ (codes_NK * scale_N[:, None]).T).norm()
    assert off < 0.02  # an outlier that stayed in would make it 50 times as coarse


def test_a_float_matrix_behind_a_closure_still_counts_as_made():
    """9.6: a layer that hides its dense copy from `held` still makes it in the first call."""
    check = spec.check_of("9.6")
    case = check.make(random.Random(1), N=64, K=64, rows=(1, 1))

    class Hides:
        def __init__(self, codes_NK, scale_N):
            kept = []

            def call(x_TK):
                kept or kept.append(codes_NK * scale_N[:, None])
                return x_TK @ kept[0].T

            self.call = call

        def __call__(self, x_TK):
            return self.call(x_TK)

    with pytest.raises(Wrong, match="made") as found:
        check.judge(case, check.drive(Hides, case))
    assert found.value.id == "9.6.made"


def test_the_counter_sees_a_matrix_and_not_a_packed_product():
    check = spec.check_of("9.6")
    case = check.make(random.Random(2), N=64, K=64, rows=(2,))
    packed = check.drive(spec.reference("9.6"), case)["counts"]
    assert packed["made"][0] <= 2 * (64 * 2 + 64 * (2 + 4))  # x and the result, nothing else
    assert packed["held"] == 64 * 64 + 2 * 64


def test_the_row_of_the_scoreboard_holds_int8(monkeypatch):
    from minillm import scoreboard
    from minillm.blank import blank_model

    monkeypatch.setattr(scoreboard, "speed_model", lambda: blank_model(64, size=8_000_000))
    monkeypatch.setenv("MINILLM_FAST", "1")
    rows = [scoreboard.run(n, quality=False) for n in ("whole engine", "W8A8")]
    packed = scoreboard.both_sides_int8(scoreboard.speed_model()).weight_bytes()
    assert packed["linear"].keys() == {"w8a8", "scale"} and "int8" in packed["head"]
    assert [row.name for row in rows] == ["whole engine", "W8A8"]
    # both fill what the budget leaves beside the weights: the bytes are those of the pool, too
    assert all(row.bytes <= scoreboard.BUDGET for row in rows)
    seen = []
    monkeypatch.setattr(scoreboard, "_speed", lambda *a: seen.append(a[3]) or (1, 1.0, 1.0, 1.0))
    scoreboard.run("W8A8", quality=False)
    assert seen == [scoreboard.both_sides_int8]
