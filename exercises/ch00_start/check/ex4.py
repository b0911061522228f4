"""Check of 0.4: bytes = weights * bits / 8. The band is 5%, so that GiB are not taken for GB."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="0.4", title="Bytes of a 7B model", kind="predict", entry="answer",
    minutes=5, difficulty=1, evening=True, torch=False, band=0.05,
    tolerance="bf16",  # of naming a mistake: it may be rounded
    hints=(
        "A byte has 8 bits. How many bytes are 2 weights of 32 bits?",
        "GB = billions of weights * bits / 8. Nothing else is in it: 10^9 weights, 10^9 bytes.",
        'answer = {"fp32": billions * 4, "fp16": billions * 2, "int4": billions * ____}',
    ),
)  # fmt: skip


def make(rng):
    tenths = [*range(61, 66), *range(75, 90)]  # never so near 7 that "7B" passes by its name
    return {"billions": rng.choice(tenths) / 10}
