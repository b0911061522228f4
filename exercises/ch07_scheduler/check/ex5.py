"""Check of 7.5: what is not shared must be computed, and a step reads all weights at least once."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="7.5", title="What a shared beginning saves", kind="predict", entry="answer",
    minutes=10, difficulty=2, evening=True, torch=False,
    tolerance="bf16",  # of naming a mistake: it may be rounded
    hints=(
        "200 tokens are left to compute. How long does the arithmetic take, and how long does "
        "reading the weights take? Now with 100 tokens: which of the two becomes shorter?",
        "new = prompt * (1 - share). ms = 1000 * max(2 * W / bandwidth, 2 * W * new / peak), with "
        "W = 6.7e9 weights of 2 bytes, 300e9 bytes/s and 60e12 FLOP/s.",
        "new = [prompt, prompt * 0.5, prompt * 0.1]\n"
        "answer = [1000 * max(2 * 6.7e9 / 300e9, ____ / 60e12) for n in new]",
    ),
)  # fmt: skip


def make(rng):
    """Long enough that half of it is bound by arithmetic, short enough that a tenth is not."""
    return {"prompt": 20 * rng.randrange(40, 66)}
