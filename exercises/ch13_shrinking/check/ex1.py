"""Check of 13.1: channels of unlike size, some that never add anything (a tie at 0)."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

# What is kept is copied: it must be equal to the last bit.
EXERCISE = Exercise(
    id="13.1", title="Take channels out of an MLP", kind="code", entry="drop_channels",
    minutes=15, difficulty=2,
    sizes=(
        {"T": 1, "D": 1, "F": 2, "stay": 1}, {"T": 7, "D": 3, "F": 5, "stay": 3},
        {"T": 20, "D": 6, "F": 17, "stay": 9, "dead": 11}, {"T": 40, "D": 5, "F": 90, "stay": 45},
        {"T": 33, "D": 9, "F": 24, "stay": 24}, {"T": 60, "D": 7, "F": 101, "stay": 43},
    ),
    hints=(
        "Channel 0 has h = 3, -3 on two tokens and the column [1, 0] of down; channel 1 has h = 1, "
        "1 and the column [2, 2]. Which adds more, and how much?",
        "importance_F = (h_TF ** 2).mean(0) * (down_DF ** 2).sum(0), shape [F]. Kept rows: "
        "gate_FD[kept], kept columns: down_DF[:, kept].",
        "h_TF = silu(x_TD @ gate_FD.T) * (x_TD @ up_FD.T)\n"
        "importance_F = (h_TF**2).mean(0) * (down_DF**2).sum(0)\n"
        "best = importance_F.argsort(descending=True, stable=True)[:keep]\n"
        "kept = ____\n"
        "return gate_FD[kept], up_FD[kept], down_DF[:, kept]",
    ),
)  # fmt: skip


def make(rng, T, D, F, stay, dead=0):
    """dead: channels that add nothing, by their gate or by their column of down."""
    if not 1 <= stay <= F or dead > F or T < 1 or D < 1:
        raise ValueError("keep 1 to F channels")
    size_F = lambda: torch.exp(0.4 * normal(rng, F, dtype=torch.float64))
    matrix = lambda *shape: normal(rng, *shape, dtype=torch.float64)
    gate_FD, up_FD = matrix(F, D) * size_F()[:, None], matrix(F, D) * size_F()[:, None]
    down_DF = matrix(D, F) * size_F()
    for channel in rng.sample(range(F), dead):
        if rng.random() < 0.5:
            gate_FD[channel] = 0
        else:
            down_DF[:, channel] = 0
    x_TD = matrix(T, D) + 0.6 * matrix(1, D)
    return {"gate_FD": gate_FD, "up_FD": up_FD, "down_DF": down_DF, "x_TD": x_TD, "keep": stay}


def drive(answer, case):
    return answer(*(case[name] for name in ("gate_FD", "up_FD", "down_DF", "x_TD", "keep")))


NAMES = "gate", "up", "down"


def judge(case, output):
    if not isinstance(output, (tuple, list)) or len(output) != 3:
        raise Wrong("13.1.three", "drop_channels must return three matrices", got=output)
    want = spec.reference("13.1")(**case)
    if all(isinstance(one, torch.Tensor) and one.shape == w.shape for one, w in zip(output, want)):
        whole, sides = (case["gate_FD"], case["up_FD"], case["down_DF"]), (0, 0, 1)
        found = [_numbers(*parts) for parts in zip(output, whole, sides)]
        right = _numbers(want[1], whole[1], 0)  # rows of up are never equal
        for name, numbers in zip(NAMES, found):
            if numbers not in (None, right):
                raise _other(name, right, numbers)
    for name, got, one in zip(NAMES, output, want):
        compare(got, one, TOLERANCES["exact"], f"the smaller {name}")


def _other(name, right, numbers) -> Wrong:
    """What is said of channels that are not those which stay."""
    if sorted(numbers) == right:
        said = f"{name}: the right channels, but not in their old order"
        return Wrong("13.1.order", said, None, right, numbers)
    goes = next((n for n in numbers if n not in right), None)
    said = "one of them twice" if goes is None else f"channel {goes} must go"
    return Wrong("13.1.others", f"{name}: other channels stay ({said})", None, right, numbers)


def _numbers(small, whole, side):
    """Which channels `small` holds; None where that cannot be told."""
    old = [row.tolist() for row in (whole if side == 0 else whole.T)]
    new = [row.tolist() for row in (small if side == 0 else small.T)]
    if any(old.count(row) != 1 for row in new):
        return None
    return [old.index(row) for row in new]
