"""Check of 12.6: layers with dead inputs, with none, with nothing else; quiet and loud inputs."""

import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="12.6", title="Inputs that are always 0", kind="hunt", entry="cheapest_mask",
    minutes=10, difficulty=3,
    sizes=(
        {"N": 1, "K": 3, "dead": 1, "sparsity": 0.5}, {"N": 3, "K": 5, "dead": 0, "sparsity": 0.5},
        {"N": 4, "K": 9, "dead": 3, "sparsity": 0.5}, {"N": 5, "K": 12, "dead": 6, "sparsity": 0.2},
        {"N": 4, "K": 17, "dead": 1, "sparsity": 0.3, "loud": 1},
        {"N": 6, "K": 24, "dead": 4, "sparsity": 0.4, "loud": 2},
        {"N": 3, "K": 7, "dead": 7, "sparsity": 0.3}, {"N": 2, "K": 6, "dead": 2, "sparsity": 0.0},
        {"N": 2, "K": 6, "dead": 2, "sparsity": 1.0}, {"N": 8, "K": 33, "dead": 0, "sparsity": 0.6},
        {"N": 3, "K": 40, "dead": 25, "sparsity": 0.4},  # more dead ones than go: a long tie
        {"N": 4, "K": 11, "dead": 2, "sparsity": 0.4, "quiet": 5},
    ),
    hints=(
        "A row has three inputs, all weights are 1, and one of them is dropped. H is 0 but for its "
        "diagonal: (2, 0, 3), then (0, 0, 3), then (2, 0, 1e9), then (0, 1e-9, 3). Which one must "
        "it be, each time? Which scores does this code give, and what does it drop?",
        "score = 0 for dead inputs, w^2 / (H_live^-1)[k, k] for all others. Live: the diagonal of "
        "H is above 0, be it ever so little. Then a stable argsort; the first `count` go.",
        "live_K = hessian_KK.diagonal() > ____\n"
        "score_NK = torch.zeros_like(weight_NK)\n"
        "inverse_KK = hessian_KK[live_K][:, live_K].inverse()\n"
        "score_NK[:, live_K] = weight_NK[:, live_K] ** 2 / inverse_KK.diagonal()\n"
        "order_NK = score_NK.argsort(dim=1, stable=True)\n"
        "mask_NK = torch.ones_like(weight_NK, dtype=torch.bool)\n"
        "return mask_NK.scatter(1, order_NK[:, :count], False)",
    ),
)  # fmt: skip


def make(rng, N, K, dead, sparsity, loud=0, quiet=0):
    """dead: inputs that are always 0, with weights as large as any. loud: inputs 100 times larger;
    quiet: 100,000 times smaller, and still not dead.

    More tokens than inputs: H of the live ones has an inverse. Some weights are 0 from the start.
    """
    if dead > K or loud + quiet > K - dead:
        raise ValueError("no more dead, loud and quiet inputs than inputs")
    tokens = 2 * K + 6
    x_TK = normal(rng, tokens, 2, dtype=torch.float64) @ normal(rng, 2, K, dtype=torch.float64)
    x_TK = (x_TK + normal(rng, tokens, K)) * (0.3 + normal(rng, K).abs().double())
    places = rng.sample(range(K), K)
    x_TK[:, places[:dead]] = 0
    x_TK[:, places[dead : dead + loud]] *= 100
    x_TK[:, places[dead + loud : dead + loud + quiet]] *= 1e-5
    weight_NK = normal(rng, N, K, dtype=torch.float64)
    weight_NK[:, places[:dead]] *= 3
    for row in range(0, N, 2):
        weight_NK[row, rng.randrange(K)] = 0.0
    return {"weight_NK": weight_NK, "hessian_KK": x_TK.T @ x_TK, "sparsity": sparsity}


def judge(case, output):
    """How many of each row first: a wrong number explains more than a place that differs."""
    want = spec.reference("12.6")(**case)
    if torch.is_tensor(output) and output.dtype == want.dtype and output.shape == want.shape:
        dropped, count = (~output).sum(1).tolist(), int((~want[0]).sum())
        if any(n != count for n in dropped):
            K = want.shape[1]
            raise Wrong(
                "12.6.count", f"sparsity {case['sparsity']}: of the {K} in each row, exactly "
                f"{count} must be dropped", None, [count] * len(dropped), dropped,
            )  # fmt: skip
    compare(output, want, what="the mask")
