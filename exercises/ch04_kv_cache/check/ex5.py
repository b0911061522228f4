"""Check of 4.5: three published configs; how many requests share the memory depends on who asks."""

import random

from exercises.grading import spec
from exercises.grading.judge import Wrong, number, within
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
NAMES = ("Llama-2-7B", "Llama-3-8B", "Qwen3-0.6B")
MODELS = (  # parameters, layers, width, query heads, KV heads, head size: from each config.json
    (6_738_415_616, 32, 4096, 32, 32, 128),
    (8_030_261_248, 32, 4096, 32, 8, 128),
    (596_049_920, 28, 1024, 16, 8, 128),
)


def cases(seed):
    """The tracked file asks about one request; with a student's id it is 2, 4, 8 or 16."""
    users = random.Random(f"4.5/{seed}").choice((2, 4, 8, 16)) if seed else 1
    load = "One request alone." if users == 1 else f"{users} requests at once, all equally long."
    return [{"users": users, "models": MODELS, "load": load}]


def judge(case, output):
    """Each number within the band; a factor that a known slip gives gets its name."""
    if not isinstance(output, (list, tuple)) or len(output) != len(MODELS):
        raise Wrong("length", "the answer must be a list of 3 numbers", got=output)
    wanted, users = spec.reference("4.5")(**case), case["users"]
    for place, (want, row) in enumerate(zip(wanted, MODELS)):
        what = f"answer[{place}], {NAMES[place]},"
        factor = number(output[place], what) / want
        for slip, text in _slips(NAMES[place], row, users):
            if abs(factor / slip - 1) < 0.02:
                raise Wrong("4.5.slip", f"{what} is not what the formula gives. {text}")
        within(output[place], want, EXERCISE.band, what)


def _slips(name, row, users):
    """Pairs: how many times too large a slip makes the number, and what to say."""
    _, layers, width, query_heads, kv_heads, size = row
    stored = f"{kv_heads} KV heads of size {size}"
    if width != kv_heads * size:
        text = f"Yours uses the width: {name} stores {stored}, not {width} numbers."
        yield kv_heads * size / width, text
    elif query_heads != kv_heads:
        text = f"Yours uses the query heads: {name} stores {stored}."
        yield kv_heads / query_heads, text
    doubled = "Did you count both K and V? And two bytes for each number, weights and cache?"
    yield 2, doubled
    yield 0.5, doubled
    yield layers, f"Did you count all {layers} layers?"
    if users > 2:
        yield users, "These are the tokens of all requests together: asked are those of ONE."
