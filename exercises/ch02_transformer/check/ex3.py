"""Check of 2.3: lengths and head sizes that are not alike, without PyTorch's own attention."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.3", title="Causal attention, one head", kind="code", entry="attention",
    minutes=30, difficulty=3, evening=True, tolerance="fp32", forbid=("sdpa",),
    sizes=({"T": 2, "K": 1}, {"T": 3, "K": 2}, {"T": 7, "K": 5}, {"T": 13, "K": 24}),
    hints=(
        "Three tokens. The scores are a square of 3 x 3: row = who asks, column = who is asked. "
        "How many of the 9 may be used? Which ones?",
        "q [T, K] @ k.T [K, L] -> [T, L]; divide by K ** 0.5. Allowed where column <= row "
        "(torch.tril of ones). The others become -inf before softmax(-1). weights [T, L] @ v "
        "[L, K] -> [T, K].",
        "scores_TL = q_TK @ k_LK.T / q_TK.shape[-1] ** 0.5\n"
        "allowed_TL = torch.ones_like(scores_TL, dtype=torch.bool).tril()\n"
        "scores_TL = scores_TL.masked_fill(~allowed_TL, ____)\n"
        "weights_TL = scores_TL.softmax(-1)\n"
        "return weights_TL @ v_LK",
    ),
)  # fmt: skip


def make(rng, T, K):
    return {"q_TK": normal(rng, T, K), "k_LK": normal(rng, T, K), "v_LK": normal(rng, T, K)}
