"""Check of 2.2: positions in any order, pairs that turn at different speeds, several heads."""

import torch

from exercises.grading import spec
from exercises.grading.judge import compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.2", title="RoPE: one pair by hand, then all", kind="code", entry="rope",
    minutes=25, difficulty=3,
    tolerance="fp16",  # of names and of trace; judge() has its own
    sizes=(
        {"T": 1, "H": 1, "K": 2, "far": 2},
        {"T": 2, "H": 1, "K": 4, "far": 4},
        {"T": 3, "H": 2, "K": 6, "far": 9},
        {"T": 7, "H": 3, "K": 10, "far": 40},
    ),
    hints=(
        "K = 4, theta = 10000, position 3. Pair 0 turns by 3. By how much does pair 1 turn: "
        "3 * 10000 ** (-2 * 1 / 4) = ?",
        "freq_k: [K/2]. angle_Tk = pos[:, None] * freq: [T, K/2]. cos and sin need a place for the "
        "heads: [T, 1, K/2]. a and b are the two halves of x: [T, H, K/2] each.",
        "freq_k = theta ** (-torch.arange(0, K, 2) / K)\n"
        "angle_Tk = pos_T[:, None] * freq_k\n"
        "cos_T1k, sin_T1k = angle_Tk.cos()[:, ____], angle_Tk.sin()[:, ____]\n"
        "a_THk, b_THk = x_THK.chunk(2, dim=-1)\n"
        "new_a = a_THk * cos_T1k - b_THk * sin_T1k\nnew_b = b_THk * cos_T1k + a_THk * sin_T1k\n"
        "return torch.cat((new_a, new_b), dim=-1)",
    ),
)  # fmt: skip


def make(rng, T, H, K, far):
    if K % 2:
        raise ValueError("RoPE turns pairs: K must be even")
    pos_T = torch.tensor(rng.sample(range(1, far), T))  # any order, with gaps
    return {"x_THK": normal(rng, T, H, K), "pos_T": pos_T, "theta": 500.0 + rng.randrange(9500)}


def judge(case, output):
    # A frequency is off by up to 4 roundings of 2^-24; the position multiplies that.
    tolerance = (4 * int(case["pos_T"].max()) + 8) * 2**-24
    compare(output, spec.reference("2.2")(**case), tolerance)
