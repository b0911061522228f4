"""Check of 9.5: outlier columns of both signs, in one token only, none, and nothing else."""

import torch

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="9.5", title="Outliers take another way", kind="code", entry="split_linear",
    minutes=25, difficulty=4, tolerance="fp32",
    sizes=(
        {"T": 1, "N": 1, "K": 3, "outliers": 1},
        {"T": 2, "N": 3, "K": 6, "outliers": 0},
        {"T": 4, "N": 5, "K": 33, "outliers": 2},
        {"T": 7, "N": 9, "K": 40, "outliers": 5},
        {"T": 3, "N": 2, "K": 5, "outliers": 5},
    ),
    hints=(
        "A token is [0.5, -60, 1.0], the threshold is 6. With one scale for all three, which code "
        "has 0.5? And which one when the scale comes from 0.5 and 1.0 alone?",
        "large_K = any over T of |x| > threshold. rest_TK = x with large columns 0. scale_T1 from "
        "rest_TK as in 9.4. out = (int sum * scale_T1 "
        "+ x[:, large] @ codes[:, large].T) * scale_N.",
        "large_K = (x_TK.abs() > threshold).any(____)\n"
        "apart_TN = x_TK[:, large_K] @ codes_NK[:, large_K].float().T\n"
        "rest_TK = x_TK.masked_fill(large_K, 0)\n"
        "scale_T1 = rest_TK.abs().amax(1, keepdim=True) / 127\n"
        "scale_T1 = torch.where(scale_T1 == 0, 1.0, scale_T1)\n"
        "q_TK = (rest_TK / scale_T1).round().int()\n"
        "sum_TN = q_TK @ codes_NK.int().T\n"
        "return (sum_TN * scale_T1 + apart_TN) * scale_N",
    ),
)  # fmt: skip


def make(rng, T, N, K, outliers):
    x_TK = normal(rng, T, K).clamp(-4, 4)  # under the threshold
    for place, column in enumerate(rng.sample(range(K), min(outliers, K))):
        sign = 1 if place % 2 else -1  # a column is large on one side only
        for t in sorted(rng.sample(range(T), rng.randint(1, max(1, T - 1)))):
            x_TK[t, column] = sign * rng.uniform(20, 90)
    codes_NK = (normal(rng, N, K) * 50).round().clamp(-127, 127).to(torch.int8)
    scale_N = torch.tensor([10 ** rng.uniform(-2, -1) for _ in range(N)])
    return {"x_TK": x_TK, "codes_NK": codes_NK, "scale_N": scale_N, "threshold": rng.uniform(5, 9)}
