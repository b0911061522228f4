"""Check of 8.3: groups of very different size, short last groups, a group of one row."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="8.3", title="A scale for each group", kind="code", entry="int4_groups",
    minutes=20, difficulty=2, evening=True, tolerance="fp32",
    sizes=(
        {"N": 1, "K": 4, "group": 2}, {"N": 3, "K": 12, "group": 4},
        {"N": 5, "K": 23, "group": 8}, {"N": 2, "K": 5, "group": 3},
    ),
    hints=(
        "A row is [1, 7, 70, -20], groups of 2. Which two scales? How many scales has a row of 23 "
        "columns in groups of 8?",
        "G = ceil(K / group). scale_NG[n, g] = max |w| of the group / 7. "
        "codes_NK = round(w / its scale). Column k belongs to group k // group.",
        "pieces = weight_NK.split(group, dim=1)\n"
        "scale_NG = torch.stack([p.abs().amax(____) / 7 for p in pieces], dim=1)\n"
        "spread_NK = scale_NG.repeat_interleave(group, dim=1)[:, : weight_NK.shape[1]]\n"
        "codes_NK = (weight_NK / spread_NK).round().to(torch.int8)\n"
        "return codes_NK, scale_NG, codes_NK * spread_NK",
    ),
)  # fmt: skip


def make(rng, N, K, group):
    rows = []
    for _ in range(N):
        row = [rng.randint(-6, 6) + rng.uniform(-0.4, 0.4) for _ in range(K)]
        for start in range(0, K, group):
            end, size = min(start + group, K), 10 ** rng.uniform(-2, 1)
            row[rng.randrange(start, end)] = rng.choice((-7, 7))
            row[start:end] = [x * size for x in row[start:end]]
        rows.append(row)
    return {"weight_NK": torch.tensor(rows), "group": group}


def judge(case, output):
    want = spec.reference("8.3")(**case)
    if not isinstance(output, (list, tuple)) or len(output) != len(want):
        compare(output, want)
    names = ("result[0] (the codes)", "result[1] (the scales)", "result[2] (the values again)")
    for name, found, right in zip(names, output, want):
        compare(found, right, TOLERANCES["fp32"], name)
