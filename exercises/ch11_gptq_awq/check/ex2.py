"""Check of 11.2: the rounded matrix, and which column was rounded when."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="11.2", title="GPTQ, column by column", kind="code", entry="gptq_columns",
    minutes=25, difficulty=4, tolerance="fp32",
    sizes=({"N": 1, "K": 2, "tokens": 4}, {"N": 3, "K": 5, "tokens": 9},
           {"N": 4, "K": 17, "tokens": 40}, {"N": 6, "K": 33, "tokens": 90}, {"N": 5, "K": 1}),
    hints=(
        "Two columns, U = [[2, 4], [0, 1]]. Column 0 was 0.6 and is rounded to 1. What is error_N, "
        "and what must be taken from column 1? Here both inputs always have the same sign, or "
        "always the opposite one: which, and does the result fit?",
        "error_N = (work_NK[:, k] - rounded_NK[:, k]) / U[k, k], shape [N]. "
        "work_NK[:, k + 1 :] -= error_N[:, None] * U[k, k + 1 :], shapes [N, 1] * [K - k - 1].",
        "work_NK, rounded_NK = weight_NK.clone(), torch.zeros_like(weight_NK)\n"
        "for k in range(weight_NK.shape[1]):\n"
        "    rounded_NK[:, k] = round_column(work_NK[:, k], k)\n"
        "    error_N = (work_NK[:, k] - rounded_NK[:, k]) / ____\n"
        "    work_NK[:, k + 1 :] -= error_N[:, None] * upper_KK[k, k + 1 :]\n"
        "return rounded_NK",
    ),
)  # fmt: skip
HOW = (
    "round_column here: the nearest multiple of scale_N, one for each row, at most 7 steps from 0. "
    "order: the k in the order in which your function called round_column."
)


def make(rng, N, K, tokens=20):
    """Inputs that move together: a few hidden causes and a little of their own."""
    x_TK = normal(rng, tokens, 3, dtype=torch.float64) @ normal(rng, 3, K, dtype=torch.float64)
    x_TK = (x_TK + 0.4 * normal(rng, tokens, K)) * (1 + 2 * normal(rng, K).abs())
    gram_KK = x_TK.T @ x_TK
    gram_KK.diagonal().add_(0.01 * gram_KK.diagonal().mean())
    weight_NK = normal(rng, N, K, dtype=torch.float64)
    scale_N = weight_NK.abs().amax(1) / torch.tensor([rng.uniform(3.0, 6.5) for _ in range(N)])
    upper_KK = torch.linalg.cholesky(torch.linalg.inv(gram_KK), upper=True)
    return {"weight_NK": weight_NK, "upper_KK": upper_KK, "scale_N": scale_N}


def drive(answer, case):
    scale_N, order = case["scale_N"], []

    def round_column(column_N, k):
        order.append(int(k))
        return (column_N / scale_N).round().clamp(-7, 7) * scale_N

    rounded_NK = answer(case["weight_NK"], case["upper_KK"], round_column)
    return {"rounded_NK": rounded_NK, "order": order}


def judge(case, output):
    want = drive(spec.reference("11.2"), case)
    K = case["weight_NK"].shape[1]
    if output["order"] != list(range(K)):
        raise Wrong(
            "11.2.order", "round_column must be called once for each column, from left to right",
            None, list(range(K)), output["order"],
        )  # fmt: skip
    compare(output["rounded_NK"], want["rounded_NK"], TOLERANCES["fp32"])
