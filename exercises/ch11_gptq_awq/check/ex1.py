"""Check of 11.1: inputs with a mean, of unlike size, alike or opposed; a small case by hand."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

# Numbers are float64; the sum that stays is a difference of two larger ones, so 1e-12 is too close.
EXERCISE = Exercise(
    id="11.1", title="Round one, mend with the other", kind="code", entry="mend",
    minutes=20, difficulty=3, evening=True, tolerance="fp32",
    sizes=({"T": 2}, {"T": 5, "alike": 2}, {"T": 40, "alike": -2},
           {"T": 33, "alike": 0.3}),
    hints=(
        "In every token x[0] = 2 * x[1], and rounding made w[0] smaller by 0.1. By how much must "
        "w[1] grow, so that no output changes?",
        "off_T = error * x[:, 0] - change * x[:, 1]. sum(off^2) = error^2 G00 - 2 error change G01 "
        "+ change^2 G11, with G = gram_22. Where is its slope in `change` zero?",
        "gram_22 = x_T2.T @ x_T2\n"
        "rounded = torch.round(w_2[0] / step) * step\n"
        "error = w_2[0] - rounded\n"
        "change = error * gram_22[0, 1] / ____\n"
        "mended_2 = torch.stack([rounded, w_2[1] + change])\n"
        "before = float(error**2 * gram_22[0, 0])\n"
        "after = float(((x_T2 @ (w_2 - mended_2)) ** 2).sum())\n"
        "return mended_2, before, after",
    ),
)  # fmt: skip
BY_HAND = ([1, 1], [1, 2]), ([2, 1], [1, 3]), ([1, -1], [2, 1]), ([1, 2], [-1, 1]), ([3, 1], [1, 2])


def make(rng, T, alike=None):
    """alike: how strongly the second input follows the first (below 0: the other way round).

    None: two tokens to reckon by hand.
    """
    if T < 2 or alike is None and T != 2:  # one token: no error is left, only dust
        raise ValueError("two tokens, or more of random numbers")
    step = rng.choice((0.1, 0.25, 0.5, 1.0))
    side = 1 if T % 2 else -1  # the nearest multiple lies below it, or above
    first = (rng.choice((-3, -2, -1, 1, 2, 3)) + side * rng.uniform(0.2, 0.45)) * step
    w_2 = torch.tensor([first, rng.uniform(-4, 4) * step], dtype=torch.float64)
    if alike is None:
        x_T2 = torch.tensor(rng.choice(BY_HAND), dtype=torch.float64)
    else:  # inputs of a layer have means, and are not of one size
        x_T2 = normal(rng, T, 2, dtype=torch.float64) + torch.tensor([0.7, -0.4])
        x_T2[:, 1] = (x_T2[:, 1] + alike * x_T2[:, 0]) * rng.choice((0.2, 0.5, 2.5, 4.0))
    return {"w_2": w_2, "x_T2": x_T2, "step": step}


PARTS = "the pair of weights", "the sum with the old w[1]", "the sum with the new w[1]"


def judge(case, output):
    if not isinstance(output, (tuple, list)) or len(output) != 3:
        raise Wrong("11.1.three", "mend must return the weights and two sums", got=output)
    for place, (got, want) in enumerate(zip(output, spec.reference("11.1")(**case))):
        compare(got, want, TOLERANCES["fp32"], f"{PARTS[place]} (result[{place}])")
