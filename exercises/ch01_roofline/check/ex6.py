"""Check of 1.6: reading is bound by arithmetic, writing by bytes; the ratio is the ridge."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="1.6", title="Reading 512 tokens against writing 512", kind="predict", entry="answer",
    minutes=15, difficulty=3, torch=False,
    tolerance="bf16",  # of naming a mistake: it may be rounded
    hints=(
        "Take 1 billion weights: 2 GB. How long does moving them take, and how long is the "
        "arithmetic of 512 rows, 1024 GFLOP?",
        "one step of S rows: max(2 * W / bandwidth, 2 * W * S / peak), W weights. Writing: 512 "
        "times the step with S = 1. W cancels out.",
        "reading = max(2 / bandwidth, 2 * 512 / peak)\n"
        "writing = 512 * max(____, 2 / peak)\nanswer = writing / reading",
    ),
)  # fmt: skip


def make(rng):
    """The ridge stays far from 512, or reading would be bound by bytes too."""
    ridge, bandwidth = rng.randrange(60, 190), 50 * rng.randrange(4, 12)
    return {"bandwidth": bandwidth, "peak": round(ridge * bandwidth / 1000)}
