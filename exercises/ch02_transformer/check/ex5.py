"""Check of 2.5: widths that are not alike, so a matrix the wrong way round does not fit."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.5", title="The gated MLP", kind="code", entry="gated_mlp",
    minutes=10, difficulty=2, tolerance="fp32",
    sizes=({"T": 1, "D": 1, "F": 1}, {"T": 2, "D": 3, "F": 5}, {"T": 5, "D": 11, "F": 37}),
    hints=(
        "x @ gate_up_OD.T has 2F numbers a token. With F = 5: which of the columns 0 .. 9 go "
        "through silu?",
        "[T, D] @ [D, 2F] -> [T, 2F]; chunk(2, dim=-1) -> gate [T, F] and up [T, F]; "
        "silu(gate) * up: [T, F]; @ down.T [F, D] -> [T, D].",
        "gate_TF, up_TF = (x_TD @ gate_up_OD.T).chunk(2, dim=____)\n"
        "hidden_TF = torch.nn.functional.silu(gate_TF) * up_TF\n"
        "return hidden_TF @ down_DF.T",
    ),
)  # fmt: skip


def make(rng, T, D, F):
    x_TD = normal(rng, T, D, scale=2.0)
    return {
        "x_TD": x_TD,
        "gate_up_OD": normal(rng, 2 * F, D, scale=D**-0.5),
        "down_DF": normal(rng, D, F, scale=F**-0.5),
    }
