"""Check of 1.3: bandwidth over bytes."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="1.3", title="Tokens per second of blank", kind="predict", entry="answer",
    minutes=5, difficulty=1, evening=True, torch=False,
    tolerance="bf16",  # of naming a mistake: it may be rounded
    hints=(
        "A model of 10 million weights in fp32: how many bytes is that?",
        "tokens a second = bytes a second / bytes a token. In fp32 a weight takes 4 bytes.",
        "answer = bandwidth * 1e9 / (millions * 1e6 * ____)",
    ),
)  # fmt: skip


def make(rng):
    while True:
        case = {"bandwidth": rng.randrange(11, 90), "millions": rng.randrange(90, 260)}
        speed = case["bandwidth"] * 250 / case["millions"]
        if not 25 < speed < 40:  # there, milliseconds a token are the same number
            return case
