"""Check of 2.6: four small known functions stand in for the parts of a block."""

import torch

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.6", title="One block", kind="code", entry="block",
    minutes=10, difficulty=2, tolerance="fp32",
    sizes=({"T": 1, "D": 2}, {"T": 3, "D": 5}, {"T": 7, "D": 9}),
    hints=(
        "Count the additions of a block: there are two. What does the second part, the MLP, read: "
        "the stream before or after the first addition?",
        "x = x + attention(attention_norm(x)); then x = x + mlp(mlp_norm(x)). All are [T, D].",
        "attended_TD = attention(attention_norm(x_TD))\n"
        "middle_TD = x_TD + attended_TD\n"
        "added_TD = mlp(mlp_norm(____))\n"
        "return middle_TD + added_TD",
    ),
)  # fmt: skip


def make(rng, T, D):
    return {
        "x_TD": normal(rng, T, D, scale=2.0),
        "weights_2D": 1 + normal(rng, 2, D) / 4,
        "mix_DD": normal(rng, D, D, scale=D**-0.5),
        "inner_DD": normal(rng, D, D, scale=D**-0.5),
    }


def drive(answer, case):
    norm = lambda w_D: lambda x: x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * w_D
    first, second = case["weights_2D"]
    past_TT = torch.ones(len(case["x_TD"]), len(case["x_TD"])).tril()
    past_TT = past_TT / past_TT.sum(-1, keepdim=True)  # every token takes the mean of its past
    attention = lambda x: past_TT @ x @ case["mix_DD"]
    mlp = lambda x: torch.tanh(x @ case["inner_DD"])
    return answer(case["x_TD"], norm(first), attention, norm(second), mlp)
