"""Check of 6.4: mean length and block sizes depend on who asks."""

import random

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.4", title="Waste from block size", kind="predict", entry="answer",
    minutes=10, difficulty=2, evening=True, torch=False,
    hints=(
        "Blocks of 4 tokens. A request holds 9 tokens. How many slots does it reserve, and how "
        "many are empty? And with 10, 11, 12 tokens: how many on average?",
        "waste = empty / reserved, and reserved = tokens + empty. One block of max_len: empty = "
        "max_len - tokens. Blocks of P: only the last one has empty slots, 0 to P - 1 of them. "
        "What is the mean of 0, 1, ..., P - 1?",
        "[1 - mean / max_len] + [____ / (mean + ____) for P in (large, small)]   # twice the same",
    ),
)  # fmt: skip


def cases(seed):
    """The tracked file asks about bench_serve_parts.waste_trace, a student about something near."""
    if not seed:
        return [{"mean": 390, "max_len": 1024, "large": 128, "small": 16}]
    rng = random.Random(f"6.4/{seed}")
    return [{
        "mean": rng.choice((370, 380, 400, 410)), "max_len": 1024,
        "large": rng.choice((64, 128, 256)), "small": rng.choice((8, 16)),
    }]  # fmt: skip
