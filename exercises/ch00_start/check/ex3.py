"""Check of 0.3: T, H and K are never equal, so that a wrong order shows where it is made."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="0.3", title="Cut rows into heads", kind="code", entry="split_heads",
    minutes=5, difficulty=2, evening=True, tolerance="exact",
    sizes=({"T": 2, "H": 3, "K": 4}, {"T": 7, "H": 5, "K": 4}, {"T": 1, "H": 4, "K": 3}),
    hints=(
        "One row is [1, 2, 3, 4, 5, 6] and there are 2 heads. Which three numbers are head 1?",
        "view changes the shape and keeps the order of the numbers: [T, H*K] to [T, H, K]. "
        "transpose(a, b) swaps two dimensions: [T, H, K] to [H, T, K].",
        "heads_THK = x.view(x.shape[0], num_heads, -1)\nreturn heads_THK.transpose(____)",
    ),
)  # fmt: skip


def make(rng, T, H, K):
    if len({T, H, K}) < 3:  # a wrong cut would hold the same numbers as the right one
        raise ValueError("T, H and K must differ")
    return {"x": normal(rng, T, H * K), "num_heads": H}
