"""Check of 4.5: three published configs; how many requests share the memory depends on who asks."""

import random

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="4.5", title="The cache outgrows the weights", kind="predict", entry="answer",
    minutes=10, difficulty=2, evening=True, torch=False,
    hints=(
        "Llama-2-7B: its weights take 2 x 6.74e9 bytes. One token leaves how many bytes of keys "
        "and values in its 32 layers?",
        "bytes of one token = 2 (K and V) * layers * KV heads * head size * 2 bytes. "
        "tokens per request = weight bytes / (requests * bytes of one token).",
        "[2 * p / (requests * 2 * layers * ____ * 2) for each row of the table]",
    ),
)  # fmt: skip
MODELS = (  # parameters, layers, width, query heads, KV heads, head size: from each config.json
    (6_738_415_616, 32, 4096, 32, 32, 128),
    (8_030_261_248, 32, 4096, 32, 8, 128),
    (596_049_920, 28, 1024, 16, 8, 128),
)


def cases(seed):
    """The tracked file asks about one request; with a student's id it is 2, 4, 8 or 16."""
    users = random.Random(f"4.5/{seed}").choice((2, 4, 8, 16)) if seed else 1
    return [{"users": users, "models": MODELS}]
