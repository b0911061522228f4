"""Check of 10.6: groups that divide K, that leave a short one, one that is longer than a row."""

import torch

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="10.6", title="A group that does not fit", kind="hunt", entry="dequantise",
    minutes=10, difficulty=2, tolerance="fp32",
    sizes=(
        {"N": 2, "K": 5, "group": 4}, {"N": 3, "K": 12, "group": 4},
        {"N": 3, "K": 18, "group": 16}, {"N": 2, "K": 6, "group": 8},
        {"N": 4, "K": 23, "group": 4}, {"N": 3, "K": 288, "group": 256},
    ),
    hints=(
        "A row has 5 columns, group is 4. Which columns belong to group 0, and which to group 1? "
        "What does this code make of them, in the first row and in the second?",
        "group of column k = k // group, in every row anew, for every k from 0 to K - 1.",
        "group_K = torch.arange(____) // group\n"
        "return codes_NK * scale_NG[:, group_K]",
    ),
)  # fmt: skip


def make(rng, N, K, group):
    """Every group has a scale of its own, far from all others, and no code is 0."""
    count = N * -(-K // group)
    scales = [i + rng.uniform(1, 1.5) for i in range(count)]
    rng.shuffle(scales)
    codes = [[rng.choice((-1, 1)) * rng.randint(1, 7) for _ in range(K)] for _ in range(N)]
    return {
        "codes_NK": torch.tensor(codes, dtype=torch.int8),
        "scale_NG": torch.tensor(scales).view(N, -1),
        "group": group,
    }
