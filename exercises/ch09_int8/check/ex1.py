"""Check of 9.1: codes, scales, results, and how many bytes the layer holds on to."""

import torch

from exercises.grading import spec
from exercises.grading.holding import Held
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="9.1", title="A layer in int8", kind="code", entry="QuantLinear",
    minutes=20, difficulty=2, evening=True, tolerance="fp32",
    sizes=(
        {"T": 1, "N": 1, "K": 2, "bias": False, "zero": False},
        {"T": 2, "N": 3, "K": 5, "bias": True, "zero": False},
        {"T": 3, "N": 9, "K": 17, "bias": True, "zero": True},
        {"T": 1, "N": 40, "K": 33, "bias": False, "zero": True},
    ),
    hints=(
        "A row of the matrix is [0.5, -2.0, 1.0]. Which number becomes code -127? What is the "
        "scale, and which code has 0.5?",
        "scale_N1 = max over k of |w[n, k]| / 127, shape [N, 1]; 1 where that is 0. "
        "codes_NK = round(weight_NK / scale_N1), int8. out = x @ (codes * scale).T + bias.",
        "# in __init__\n"
        "scale_N1 = weight_NK.abs().amax(1, keepdim=True) / 127\n"
        "self.scale_N1 = torch.where(scale_N1 == 0, 1.0, scale_N1)\n"
        "self.codes_NK = (weight_NK / self.scale_N1).____().to(torch.int8)\n"
        "self.bias_N = bias_N\n"
        "# in __call__\n"
        "weight_NK = self.codes_NK * self.scale_N1\n"
        "out_TN = x_TK @ weight_NK.T\n"
        "return out_TN if self.bias_N is None else out_TN + self.bias_N",
    ),
)  # fmt: skip


def make(rng, T, N, K, bias, zero):
    weight_NK = (
        normal(rng, N, K) * torch.tensor([10 ** rng.uniform(-2, 1) for _ in range(N)])[:, None]
    )
    weight_NK[:, rng.randrange(K)] *= -3  # the largest of a row may be below zero
    if zero:
        weight_NK[rng.randrange(N)] = 0
    return {
        "weight_NK": weight_NK,
        "bias_N": normal(rng, N) if bias else None,
        "x_TK": normal(rng, T, K),
    }


def drive(answer, case):
    before = Held(answer)
    layer = answer(case["weight_NK"], case["bias_N"])
    out_TN = layer(case["x_TK"])
    found = {"codes_NK": layer.codes_NK, "scale_N1": layer.scale_N1, "out_TN": out_TN}
    return found | {"held": before.bytes_of(layer)}


def judge(case, output):
    """As usual; bytes may be a little more than the reference's, never a second copy."""
    want = drive(spec.reference("9.1"), case)
    parts = ("codes_NK", "scale_N1", "out_TN")
    compare({k: output[k] for k in parts}, {k: want[k] for k in parts}, TOLERANCES["fp32"])
    N, K = case["weight_NK"].shape
    if output["held"] > want["held"] + 8 * N + 8:  # a bias of zeros, a second scale: allowed
        raise Wrong(
            "9.1.held", f"the layer holds {output['held']:,} bytes for {N * K} weights: a second "
            f"copy of them? Codes, scales and bias are {want['held']:,} bytes",
        )  # fmt: skip
