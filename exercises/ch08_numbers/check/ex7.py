"""Check of 8.7: groups of zeros, of one sign, of very small weights; and whole rows of zeros."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="8.7", title="Fine on most checkpoints", kind="hunt", entry="through_int4",
    minutes=15, difficulty=2, evening=True, tolerance="fp32",
    sizes=(
        {"N": 1, "groups": 2, "group": 2}, {"N": 4, "groups": 3, "group": 4},
        {"N": 6, "groups": 5, "group": 7},
    ),
    hints=(
        "Groups of 2: [0, 0], [5, 7], [-7, 700]. Which scale should each have, and what should "
        "come back? Print the scale that each has here, and which two weights share it.",
        "The g neighbours k*g .. k*g + g-1 of a row are a group. scale = max |w| / 7, also where "
        "all w have one sign. Any scale above 0 serves a group of zeros: code 0 times it is 0.",
        "grouped_NGg = weight_NK.unflatten(1, (-1, group))\n"
        "scale_NG1 = grouped_NGg.abs().amax(-1, keepdim=True) / 7\n"
        "scale_NG1 = torch.where(scale_NG1 == 0, ____, scale_NG1)",
    ),
)  # fmt: skip


def make(rng, N, groups, group):
    """Group 0 of row 0 is zeros, group 1 tiny; row 1 has one sign; some weights are 0, too."""
    size = torch.tensor([[10 ** rng.uniform(-5, 1) for _ in range(groups)] for _ in range(N)])
    size[0, :2] = torch.tensor([0.0, 1e-6])
    size[-1] *= 0 if N > 1 else 1
    weight_NGg = normal(rng, N, groups, group) * size[:, :, None]
    if N > 2:
        weight_NGg[1] = weight_NGg[1].abs() * rng.choice((-1, 1))
    weight_NGg[:, -1, 0] = 0
    return {"weight_NK": weight_NGg.flatten(1) + 0.0, "group": group}  # no -0


def judge(case, output):
    """Each group beside its own largest weight: a tiny group counts as much as a large one."""
    want_NK = spec.reference("8.7")(**case)
    compare(output, want_NK, float("inf"))  # only shape, dtype and NaN
    grouped = lambda w_NK: w_NK.unflatten(1, (-1, case["group"]))
    largest_NG1 = grouped(case["weight_NK"]).abs().amax(-1, keepdim=True)
    far_NGg = grouped(output - want_NK).abs() > TOLERANCES["fp32"] * largest_NG1
    if bool(far_NGg.any()):
        row, place = far_NGg.flatten(1).nonzero()[0].tolist()
        largest = float(largest_NG1[row, place // case["group"], 0])
        raise Wrong(
            "value",
            f"{int(far_NGg.sum())} of {want_NK.numel()} weights come back different. "
            f"The largest |w| in the group of the first one is {largest:.3g}",
            (row, place), float(want_NK[row, place]), float(output[row, place]),
        )  # fmt: skip
