"""Check of 9.4: integer sums (exact, beyond 16 bits) and results of tokens of unlike size."""

import torch

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="9.4", title="Whole numbers on both sides", kind="code", entry="w8a8_linear",
    minutes=25, difficulty=3, tolerance="fp32",
    sizes=(
        {"T": 1, "N": 1, "K": 2, "zero": False},
        {"T": 3, "N": 2, "K": 7, "zero": False},
        {"T": 5, "N": 9, "K": 65, "zero": True},
        {"T": 2, "N": 3, "K": 512, "zero": False},
    ),
    hints=(
        "127 * 127 = 16,129. From how many such products on is the sum too large for int16 "
        "(32,767)? And how many fit into int32?",
        "scale_T1 = max over K of |x| / 127 (1 where 0), q_TK = round(x / scale_T1) int8, "
        "sum_TN = q_TK @ codes_NK.T in int32, out[t, n] = sum[t, n] * scale_T1[t] * scale_N[n].",
        "scale_T1 = x_TK.abs().amax(1, keepdim=True) / 127\n"
        "scale_T1 = torch.where(scale_T1 == 0, 1.0, scale_T1)\n"
        "q_TK = (x_TK / scale_T1).round().to(torch.int8)\n"
        "sum_TN = q_TK.____() @ codes_NK.____().T\n"
        "return sum_TN, sum_TN * scale_T1 * scale_N",
    ),
)  # fmt: skip


def make(rng, T, N, K, zero):
    size_T1 = torch.tensor([[10 ** rng.uniform(-1, 1)] for _ in range(T)])
    x_TK = normal(rng, T, K) * size_T1
    if zero:
        x_TK[rng.randrange(T)] = 0
    codes_NK = (normal(rng, N, K) * 60).round().clamp(-128, 127).to(torch.int8)
    codes_NK[rng.randrange(N)] = 127 * x_TK[-1].sign().to(torch.int8)  # one large sum
    scale_N = torch.tensor([10 ** rng.uniform(-3, -1) for _ in range(N)])
    return {"x_TK": x_TK, "codes_NK": codes_NK, "scale_N": scale_N}
