"""Check of 2.1: rows of very different size, a row of zeros, and float16 whose squares overflow."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.1", title="RMSNorm", kind="code", entry="rms_norm",
    minutes=15, difficulty=2, evening=True,
    tolerance="fp16",  # of names and of trace; judge() has its own
    sizes=(
        {"T": 1, "D": 2, "whole": True},
        {"T": 3, "D": 3},
        # as small as eps: its place shows, and whether the eps that was given is used
        {"T": 4, "D": 7, "scale": 1e-3, "zero_row": True, "eps": 1e-5},
        {"T": 5, "D": 33, "scale": 400.0, "dtype": "float16"},
    ),
    hints=(
        "Take the row [3, 4]. Its mean of squares is (9 + 16) / 2 = 12.5. By which number do you "
        "divide 3 and 4?",
        "mean of squares: [T, D] -> [T, 1] with mean(-1, keepdim=True). Then "
        "1 / sqrt(mean + eps): [T, 1]. x [T, D] times [T, 1] times weight [D]. First x.float(), "
        "at the end .to(x.dtype).",
        "wide_TD = x_TD.float()\n"
        "scale_T1 = ((wide_TD * wide_TD).mean(____, keepdim=True) + eps).rsqrt()\n"
        "return (wide_TD * scale_T1).to(x_TD.dtype) * weight_D",
    ),
)  # fmt: skip


def make(rng, T, D, scale=1.0, dtype="float32", whole=False, zero_row=False, eps=1e-6):
    x_TD = normal(rng, T, D, scale=scale)
    if whole:  # numbers to check by hand
        x_TD = torch.tensor([[float(rng.randint(1, 9)) for _ in range(D)] for _ in range(T)])
    if zero_row:
        x_TD[T // 2] = 0.0
    kind = getattr(torch, dtype)
    return {"x_TD": x_TD.to(kind), "weight_D": (1 + normal(rng, D) / 4).to(kind), "eps": eps}


def judge(case, output):
    want = spec.reference("2.1")(**case)
    # float16: the weight may come before or after the rounding, two roundings of 2^-11 at most.
    compare(output, want, TOLERANCES["fp16" if want.dtype == torch.float16 else "fp32"])
