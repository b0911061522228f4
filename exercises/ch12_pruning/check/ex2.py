"""Check of 12.2: rows by themselves, inputs of unlike size, twins and dead inputs, both ends."""

import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="12.2", title="Wanda: weight times input", kind="code", entry="wanda_mask",
    minutes=15, difficulty=2,
    sizes=(
        {"N": 1, "K": 2, "T": 2, "sparsity": 0.5, "dead": 0, "twins": 0},
        {"N": 3, "K": 5, "T": 4, "sparsity": 0.5, "dead": 0, "twins": 0},
        {"N": 4, "K": 9, "T": 7, "sparsity": 0.3, "dead": 2, "twins": 2},
        {"N": 5, "K": 24, "T": 31, "sparsity": 0.6, "dead": 3, "twins": 4},
        {"N": 7, "K": 33, "T": 20, "sparsity": 0.0, "dead": 1, "twins": 0},
        {"N": 2, "K": 6, "T": 3, "sparsity": 1.0, "dead": 1, "twins": 1},
        {"N": 6, "K": 12, "T": 9, "sparsity": 0.2, "dead": 5, "twins": 0},
        {"N": 11, "K": 17, "T": 40, "sparsity": 0.5, "dead": 0, "twins": 5},
        {"N": 20, "K": 31, "T": 6, "sparsity": 0.5, "dead": 1, "twins": 2},
    ),
    hints=(
        "A row has the weights 3 and -1. In two tokens the inputs were (1, 3) and (0, 4). What are "
        "the two norms, what the two scores? Which weight goes at 50%?",
        "norm_K = sqrt of the sum over T of x_TK^2, shape [K]. score_NK = |weight_NK| * norm_K. "
        "Sort along dim 1, stable. In each row the first `count` of that order are dropped.",
        "norm_K = (x_TK**2).sum(dim=____).sqrt()\n"
        "score_NK = weight_NK.abs() * norm_K\n"
        "count = int(sparsity * weight_NK.shape[1] + 0.5)\n"
        "order_NK = score_NK.argsort(dim=1, stable=True)\n"
        "mask_NK = torch.ones_like(weight_NK, dtype=torch.bool)\n"
        "return mask_NK.scatter(1, order_NK[:, :count], False)",
    ),
)  # fmt: skip


def make(rng, N, K, T, sparsity, dead, twins):
    """Inputs are eighths, so sums of squares are exact: twins tie whatever the order of adding.

    dead: inputs that are 0. twins: inputs that equal another one, with weights that differ at most
    in sign.
    """
    if dead + twins >= K:
        raise ValueError("at least one input must be an ordinary one")
    size_K = torch.tensor([rng.choice((0.5, 1.0, 3.0, 12.0)) for _ in range(K)])
    x_TK = ((normal(rng, T, K) + 0.5) * size_K * 8).round().clamp(-400, 400).double() / 8
    weight_NK = normal(rng, N, K, dtype=torch.float64)
    places = rng.sample(range(K), K)
    x_TK[:, places[:dead]] = 0
    for place in places[dead : dead + twins]:
        other = rng.choice(places[dead + twins :])
        x_TK[:, place] = x_TK[:, other]
        weight_NK[:, place] = weight_NK[:, other] * rng.choice((-1, 1))
    return {"weight_NK": weight_NK, "x_TK": x_TK, "sparsity": sparsity}


def judge(case, output):
    """How many of each row first: a wrong number explains more than a place that differs."""
    want = spec.reference("12.2")(**case)
    if torch.is_tensor(output) and output.dtype == want.dtype and output.shape == want.shape:
        dropped, count = (~output).sum(1).tolist(), int((~want[0]).sum())
        if any(n != count for n in dropped):
            K = want.shape[1]
            raise Wrong(
                "12.2.count", f"sparsity {case['sparsity']}: of the {K} in each row, exactly "
                f"{count} must be dropped", None, [count] * len(dropped), dropped,
            )  # fmt: skip
    compare(output, want, what="the mask")
