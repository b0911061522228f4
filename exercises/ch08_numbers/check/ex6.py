"""Check of 8.6: half a step each; the range depends on who asks."""

import random

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="8.6", title="The largest error", kind="predict", entry="answer",
    minutes=10, difficulty=2, torch=False,
    hints=(
        "The values of a format stand 0.1 apart. A weight lies between two of them. How far is the "
        "nearer one at most?",
        "error <= step / 2. step: max |w| / 127, max |w| / 7, (max - min) / 15.",
        "[high / 127 / 2, high / 7 / 2, (high - ____) / 15 / 2]",
    ),
)  # fmt: skip


def cases(seed):
    """Always low = 5/12 of high: far enough from both 0 and high to tell slips apart."""
    times = random.Random(f"8.6/{seed}").choice((2, 3, 4, 8)) if seed else 1
    return [{"low": round(0.25 * times, 2), "high": round(0.6 * times, 2)}]
