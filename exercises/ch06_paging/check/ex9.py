"""Check of 6.9: zeros, old numbers, inf and NaN in the slots that hold no token."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.9", title="The tail of a page", kind="hunt", entry="paged_attention",
    minutes=20, difficulty=3, tolerance="fp32", forbid=("sdpa",),
    sizes=(
        {"H": 1, "G": 1, "K": 2, "P": 2, "lengths": (1,), "left": float("nan")},
        {"H": 2, "G": 1, "K": 2, "P": 2, "lengths": (2, 3), "left": 0.0},
        {"H": 4, "G": 2, "K": 3, "P": 4, "lengths": (5, 8, 2), "left": float("nan")},
        {"H": 6, "G": 2, "K": 5, "P": 4, "lengths": (9, 1, 4), "left": float("inf")},
        {"H": 5, "G": 1, "K": 8, "P": 8, "lengths": (17, 24, 7), "left": 3e4},
    ),
    hints=(
        "A place behind the end has the score -inf, so its weight is 0. What is 0 * 3? And what "
        "is 0 * NaN? Where in this code is something multiplied by 0?",
        "masked_fill and torch.where REPLACE a number, whatever it was. Multiplying or adding does "
        "not: NaN * 0 = NaN, NaN - 1e30 = NaN. Scores and values both need it, from place len on.",
        "v_SLGK = v_SLGK.masked_fill(empty_SL[:, :, None, None], ____)",
    ),
)  # fmt: skip


UNTRACED = ("k_SLGK",)  # ours leaves there what -inf hides later


def make(rng, H, G, K, P, lengths, left):
    """left: what stands in slots without a token, give or take some noise."""
    case = spec.check_of("6.5").make(rng, H, G, K, P, lengths)
    for name in ("k_pool_NPGK", "v_pool_NPGK"):
        pool = case[name]
        old = normal(rng, *pool.shape) * (left or 1.0) if left else torch.zeros_like(pool)
        case[name] = torch.where(pool.isnan(), old, pool)
    return case


def judge(case, output):
    try:
        compare(output, spec.reference("6.9")(**case), TOLERANCES["fp32"])
    except Wrong as wrong:
        if wrong.index:
            length, size = int(case["len_S"][wrong.index[0]]), case["k_pool_NPGK"].shape[1]
            wrong.message += (
                f"; there the request has {length} token{'s' * (length > 1)} in blocks of {size}"
            )
        raise
