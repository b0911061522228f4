"""Check of 5.5: two sums decide; the tests run every question on the paper GPU's clock."""

import random

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="5.5", title="How many seats?", kind="choose", entry="answer",
    minutes=20, difficulty=3, evening=True, torch=False,
    choices={
        "1": "with 1 seat a full step takes 5.6 ms. How many seconds does the whole burst take?",
        "2": "with 2 seats a full step takes 5.7 ms. How many seconds does the whole burst take?",
        "8": "with 8 seats a full step takes 6.7 ms. How many seconds does the whole burst take? "
        "Compare both with the limits",
        "32": "with 32 seats a full step takes 10.5 ms. How many seconds does the whole burst "
        "take? Compare both with the limits",
        "128": "with 128 seats a full step takes 25.9 ms. How many seconds does the whole burst "
        "take? Compare both with the limits",
        "none": "one of them holds both: look at the two sums again",
    },
    hints=(
        "With 8 seats a full step takes 5.4 + 0.16 * 8 = 6.7 ms. 8 requests sit at the same time: "
        "how many rounds does a burst need, and how many steps is one round?",
        "step_ms = 5.4 + 0.16 * seats <= TPOT limit. "
        "burst_s = burst * answer / seats * step_ms / 1000 <= seconds between two bells.",
        "for seats in (2, 8, 32, 128):\n"
        "    step_ms = 5.4 + 0.16 * seats\n"
        "    print(seats, step_ms, burst * answer_length / ____ * step_ms / 1000)",
    ),
)  # fmt: skip
NAMES = ("burst", "answer_length", "interval", "limit")
QUESTIONS = (  # requests, tokens, seconds between bells, TPOT limit in ms; prompts of 300 tokens
    (160, 200, 16, 15),
    (160, 200, 36, 8.3),
    (160, 200, 8.6, 31),
    (128, 160, 10, 14),
    (192, 240, 22, 16),
    (192, 240, 50, 8.4),
)
PROMPT = 300


def cases(seed):
    """The tracked file asks the first; a student's id picks one."""
    chosen = random.Random(f"5.5/{seed}").choice(QUESTIONS) if seed else QUESTIONS[0]
    return [dict(zip(NAMES, chosen))]
