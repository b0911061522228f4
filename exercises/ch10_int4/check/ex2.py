"""Check of 10.2: results against float64, and how many bytes the layer holds on to."""

import torch

from exercises.grading.holding import Held
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise
from minillm.compress.packing import pack, unpack

EXERCISE = Exercise(
    id="10.2", title="A layer in int4", kind="code", entry="Int4Linear",
    minutes=25, difficulty=3, evening=True, uses=("minillm.compress.packing",),
    sizes=(
        {"rows": (1,), "N": 1, "K": 4, "group": 2},
        {"rows": (2, 1), "N": 12, "K": 12, "group": 4},
        {"rows": (1, 3), "N": 5, "K": 23, "group": 8},
        {"rows": (1, 2), "N": 24, "K": 100, "group": 32},
        {"rows": (2,), "N": 40, "K": 65, "group": 64},
        {"rows": (1,), "N": 16, "K": 50, "group": 64},
    ),
    hints=(
        "K is 5 and group is 2. A row has the scales 1, 10, 100. Which scale has each of the 5 "
        "codes?",
        "codes [N, K] = unpack(words, 4, K). scales [N, G] -> [N, K]: each one `group` times, then "
        "cut at K. weight = codes * float32 scales. out [T, N] = x [T, K] @ weight.T.",
        "# in __init__\n"
        "self.words_NW, self.scale_NG, self.group, self.K = words_NW, scale_NG, group, K\n"
        "# in __call__\n"
        "codes_NK = unpack(self.words_NW, 4, self.K)\n"
        "scale_NK = self.scale_NG.float().____(self.group, dim=1)[:, : self.K]\n"
        "weight_NK = codes_NK * scale_NK\n"
        "return x_TK @ weight_NK.T",
    ),
)  # fmt: skip


def make(rng, rows, N, K, group):
    """Scales of very different size, so that a neighbour's scale cannot pass."""
    codes_NK = torch.tensor([[rng.randint(-8, 7) for _ in range(K)] for _ in range(N)])
    codes_NK = torch.where(codes_NK == 0, 5, codes_NK)  # every weight counts
    scales = [[10 ** rng.uniform(-2, 0) for _ in range(-(-K // group))] for _ in range(N)]
    return {
        "words_NW": pack(codes_NK.to(torch.int8), 4),
        "scale_NG": torch.tensor(scales).bfloat16(),
        "group": group,
        "K": K,
        "x_of_each_call": [normal(rng, T, K) for T in rows],
    }


def drive(answer, case):
    before = Held(answer)
    layer = answer(case["words_NW"], case["scale_NG"], case["group"], case["K"])
    out = [layer(x_TK) for x_TK in case["x_of_each_call"]]
    return {"out": out, "held": before.bytes_of(layer)}


def judge(case, output):
    """A sum of K products may differ by the order of adding: beside the sum of their sizes."""
    words_NW, scale_NG, K = case["words_NW"], case["scale_NG"], case["K"]
    scale_NK = scale_NG.double()[:, torch.arange(K) // case["group"]]
    weight_NK = unpack(words_NW, 4, K) * scale_NK
    if len(output["out"]) != len(case["x_of_each_call"]):
        raise Wrong("length", "a call for each x is needed")
    for number, (got_TN, x_TK) in enumerate(zip(output["out"], case["x_of_each_call"])):
        want_TN = x_TK.double() @ weight_NK.T
        largest = float((x_TK.double().abs() @ weight_NK.abs().T).max())
        what = f"the result of call {number + 1}"
        compare(got_TN, want_TN.float(), what=what, floor=TOLERANCES["fp32"] * largest)
    least = words_NW.nbytes + scale_NG.nbytes
    if output["held"] > least + 2 * scale_NG.nbytes + 64:  # scales in float32 beside them: allowed
        raise Wrong(
            "10.2.held", f"the layer holds {output['held']:,} bytes for {len(words_NW) * K:,} "
            f"weights: codes or values of its own? Words and scales are {least:,} bytes",
        )  # fmt: skip
