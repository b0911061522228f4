"""Check of 12.5: one column of a half-done matrix, the first, one in the middle, the last."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="12.5", title="SparseGPT, one column", kind="code", entry="drop_and_mend",
    minutes=20, difficulty=3, tolerance="fp32",
    sizes=({"N": 2, "K": 2, "k": 0}, {"N": 4, "K": 5, "k": 2}, {"N": 7, "K": 17, "k": 0},
           {"N": 6, "K": 33, "k": 19}, {"N": 5, "K": 9, "k": 8}, {"N": 9, "K": 6, "k": 3}),
    hints=(
        "U = [[2, 4], [0, 1]] and column 0 is (6, 3). Row 0 drops its weight, row 1 keeps it. What "
        "are the two costs? What is taken from column 1, in row 0 and in row 1?",
        "error_N = where(drop_N, w_N, 0) / U[k, k], shape [N]. "
        "new_NK[:, k + 1 :] -= error_N[:, None] * U[k, k + 1 :], shapes [N, 1] * [K - k - 1]. "
        "The cost of a row is that of dropping, also where nothing is dropped.",
        "cost_N = (work_NK[:, k] / upper_KK[k, k]) ** 2\n"
        "error_N = torch.where(drop_N, ____, 0.0) / upper_KK[k, k]\n"
        "new_NK = work_NK.clone()\n"
        "new_NK[drop_N, k] = 0\n"
        "new_NK[:, k + 1 :] -= error_N[:, None] * upper_KK[k, k + 1 :]\n"
        "return new_NK, cost_N",
    ),
)  # fmt: skip


def make(rng, N, K, k):
    """Inputs that move together. Of the columns before k some weights are 0 already."""
    if not 0 <= k < K:
        raise ValueError("k is one of the columns")
    tokens = 3 * K + 4
    x_TK = normal(rng, tokens, 3, dtype=torch.float64) @ normal(rng, 3, K, dtype=torch.float64)
    x_TK = (x_TK + 0.4 * normal(rng, tokens, K)) * (1 + 2 * normal(rng, K).abs())
    gram_KK = x_TK.T @ x_TK
    gram_KK.diagonal().add_(0.01 * gram_KK.diagonal().mean())
    work_NK = normal(rng, N, K, dtype=torch.float64)
    work_NK[:, :k] *= normal(rng, N, k) > 0
    drop = [n % 2 == 0 for n in range(N)]  # some go, some stay
    rng.shuffle(drop)
    upper_KK = torch.linalg.cholesky(torch.linalg.inv(gram_KK), upper=True)
    return {"work_NK": work_NK, "upper_KK": upper_KK, "k": k, "drop_N": torch.tensor(drop)}


def judge(case, output):
    if not isinstance(output, (tuple, list)) or len(output) != 2:
        raise Wrong("12.5.two", "drop_and_mend must return the matrix and the costs", got=output)
    want_NK, want_N = spec.reference("12.5")(**case)
    _dropped(case, output[0], want_NK)
    compare(output[0], want_NK, TOLERANCES["fp32"], "the matrix (result[0])")
    compare(output[1], want_N, TOLERANCES["fp32"], "cost_N (result[1])")


def _dropped(case, got_NK, want_NK):
    """Nearly 0 is no zero: nothing would be saved. w - w / u * u leaves such dust."""
    if not torch.is_tensor(got_NK) or got_NK.shape != want_NK.shape:
        return
    dust_N = got_NK[:, case["k"]][case["drop_N"]]
    if 0 < float(dust_N.abs().max()) < 1e-6:
        raise Wrong("12.5.dust", f"the weights that are dropped must be exactly 0 in column "
                    f"{case['k']}, yours are only near it", None, 0.0,
                    float(dust_N[dust_N != 0][0]))  # fmt: skip
