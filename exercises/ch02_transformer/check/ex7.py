"""Check of 2.7: one token, then more; numbers of heads, tokens and columns all different."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.7", title="A hunt: right with one token, wrong with two", kind="hunt",
    entry="multi_head", minutes=15, difficulty=3, evening=True, tolerance="fp32",
    sizes=(
        {"T": 1, "H": 2, "K": 2},
        {"T": 2, "H": 2, "K": 1},
        {"T": 3, "H": 2, "K": 4},
        {"T": 7, "H": 5, "K": 6},
    ),
    hints=(
        "Take T = 2, H = 2, K = 1 and q = [[1, 2], [3, 4]]. Head 0 must get the column [1, 3]. "
        "Print what head 0 really gets, for q, k and v; then follow the output the same way.",
        "reshape never moves a number: it only cuts the same row of numbers anew. "
        "[T, H*K] -> reshape -> [T, H, K] -> transpose(0, 1) -> [H, T, K]; and the same way back.",
        "into heads: x_TO.reshape(length, num_heads, size).transpose(____, ____)\n"
        "and back:   out_HTK.transpose(0, 1).reshape(length, num_heads * size)",
    ),
)  # fmt: skip


def make(rng, T, H, K):
    columns = normal(rng, 3, T, H * K)
    return {"q_TO": columns[0], "k_TO": columns[1], "v_TO": columns[2], "num_heads": H}
