"""Check of 2.9: typical rounding times the square root of the number of roundings."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.9", title="How far apart may two right programs be?", kind="predict", entry="answer",
    minutes=15, difficulty=3, torch=False,
    tolerance="bf16",  # of naming a mistake: it may be rounded
    hints=(
        "One rounding in fp16 is at most 2^-11 of the number. What is half of that? After 8 "
        "layers there were 16 of them: by how much does sqrt(16) multiply it?",
        "difference = sqrt(2 * layers) * 2^-p / 2, with p = 24 for fp32 and p = 11 for fp16.",
        'answer = {"fp32": (2 * LAYER) ** 0.5 * 2**-24 / 2, "fp16": (2 * LAYER) ** 0.5 * ____}',
    ),
)  # fmt: skip


def make(rng):
    return {"layer": rng.choice((3, 4, 5))}
