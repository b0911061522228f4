"""Check of 8.4: the size of the outlier depends on who asks; graded on the formula."""

import random

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="8.4", title="One outlier", kind="predict", entry="answer",
    minutes=10, difficulty=2, evening=True, torch=False,
    hints=(
        "The largest weight is 4, so a step is 4 / 7. Which values are rounded to 0: those below a "
        "whole step, or below half of it?",
        "step = max |w| / 7; code 0 where |w| < step / 2. "
        "P(|w| < a) = erf(a / sqrt(2)) for a normal w with standard deviation 1.",
        "from math import erf\n"
        "[erf(largest / 7 / ____ / 2**0.5) for largest in (4, the_outlier)]",
    ),
)  # fmt: skip


def cases(seed):
    """The tracked file asks about 10; with a student's id it is another size."""
    return [{"outlier": random.Random(f"8.4/{seed}").choice((8, 9, 11, 12)) if seed else 10}]
