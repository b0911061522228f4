"""Check of 11.3: the alpha that wins, what is stored, and the norm; inputs that are always 0."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal, number
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="11.3", title="AWQ: search a scale", kind="code", entry="scale_search",
    minutes=30, difficulty=4, tolerance="fp32",
    sizes=(
        {"T": 3, "N": 1, "K": 2, "dead": 0, "tried": 3}, {"T": 20, "N": 5, "K": 9, "dead": 0},
        {"T": 31, "N": 7, "K": 24, "dead": 2}, {"T": 16, "N": 4, "K": 33, "dead": 1},
        {"T": 50, "N": 9, "K": 40, "dead": 0},
        # more of them: another measure of the error often finds the same alpha
        {"T": 25, "N": 6, "K": 30, "dead": 0}, {"T": 40, "N": 3, "K": 21, "dead": 3},
        {"T": 18, "N": 8, "K": 27, "dead": 0}, {"T": 33, "N": 5, "K": 36, "dead": 1},
        {"T": 22, "N": 10, "K": 19, "dead": 0}, {"T": 45, "N": 4, "K": 28, "dead": 0},
    ),
    hints=(
        "Two inputs have mean |x| = 1 and 16, and alpha is 0.5. How large are the two s before "
        "step 2, and after it?",
        "s_K = mean_K ** alpha, then s_K / sqrt(max * min) (live inputs only). off_TN = x_TK @ "
        "(weight_NK - coded_NK / s_K).T, error = sum of off_TN ** 2. Norm: norm_K / s_K.",
        "mean_K = x_TK.abs().mean(0)\n"
        "live_K, least = mean_K > 0, None\n"
        "for alpha in alphas:\n"
        "    s_K = torch.ones_like(mean_K)\n"
        "    s_K[live_K] = mean_K[live_K] ** alpha\n"
        "    s_K[live_K] /= (s_K[live_K].max() * s_K[live_K].min()).sqrt()\n"
        "    coded_NK = round_matrix(weight_NK * s_K)\n"
        "    error = ((x_TK @ (weight_NK - ____).T) ** 2).sum()\n"
        "    if least is None or error < least:\n"
        "        least, best = error, (alpha, coded_NK, norm_K / s_K)\n"
        "return best",
    ),
)  # fmt: skip
HOW = "round_matrix here: one scale a row, largest |w| / 3.5, codes -3 to 3."


def make(rng, T, N, K, dead, tried=10):
    """Inputs of very unlike size, with a mean of either sign; weights all alike."""
    size_K = torch.exp(1.2 * normal(rng, K, dtype=torch.float64))
    x_TK = (normal(rng, T, K, dtype=torch.float64) + 0.5 * normal(rng, 1, K)) * size_K
    for column in rng.sample(range(K), min(dead, K - 1)):
        x_TK[:, column] = 0
    return {
        "weight_NK": normal(rng, N, K, dtype=torch.float64),
        "x_TK": x_TK,
        "norm_K": 1 + 0.2 * normal(rng, K, dtype=torch.float64),
        "alphas": [i / tried for i in range(tried)],
    }


def round_matrix(weight_NK):
    """3 bits, one scale a row."""
    step_N1 = weight_NK.abs().amax(1, keepdim=True) / 3.5
    return (weight_NK / step_N1).round().clamp(-3, 3) * step_N1


def drive(answer, case):
    given = (case[name] for name in ("weight_NK", "x_TK", "norm_K", "alphas"))
    found = answer(*given, round_matrix)
    return list(found) if isinstance(found, (tuple, list)) else found


def judge(case, output):
    """An alpha as good as ours will do: two may tie where both round a column to 0."""
    if not isinstance(output, list) or len(output) != 3:
        raise Wrong("11.3.three", "scale_search must return alpha, coded_NK and norm_K / s_K")
    want = drive(spec.reference("11.3"), case)
    got = number(output[0], "alpha")
    alpha = min(case["alphas"], key=lambda a: abs(a - got))  # one from a float32 will do
    if abs(alpha - got) > 1e-6 or not _as_good(case, alpha, want[0]):
        raise Wrong("11.3.alpha", "another alpha has a smaller error", None, want[0], got)
    want = drive(spec.reference("11.3"), case | {"alphas": [alpha]})
    for name, mine, right in zip(("coded_NK", "the norm"), output[1:], want[1:]):
        compare(mine, right, TOLERANCES["fp32"], what=name)


def _as_good(case, alpha, best) -> bool:
    return _error(case, alpha) <= _error(case, best) * (1 + 1e-9)


def _error(case, alpha) -> float:
    """Of the outputs; coded / s is the same whatever s was divided by."""
    _, coded_NK, norm_K = drive(spec.reference("11.3"), case | {"alphas": [alpha]})
    weight_NK = coded_NK * norm_K / case["norm_K"]
    return float(((case["x_TK"] @ (case["weight_NK"] - weight_NK).T) ** 2).sum())
