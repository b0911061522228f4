"""Check of 0.2: rows of different scale, also where there are as many rows as columns."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="0.2", title="One scale a row", kind="code", entry="scale_rows",
    minutes=5, difficulty=1, evening=True, tolerance="fp32",
    sizes=({"O": 1, "I": 2}, {"O": 2, "I": 3}, {"O": 4, "I": 4}, {"O": 17, "I": 5}),
    hints=(
        "weights is [4, 3] and scale is [4]. PyTorch lines shapes up from the right. "
        "Which of the two sizes, 4 or 3, meets the 4 of scale?",
        "wanted[o, i] = weights[o, i] * scale[o]. A shape [O, 1] meets [O, I]: the 1 is repeated.",
        "return weights * scale[:, ____]",
    ),
)  # fmt: skip


def make(rng, O, I):
    return {"weights": normal(rng, O, I), "scale": normal(rng, O)}
