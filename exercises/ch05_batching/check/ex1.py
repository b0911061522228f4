"""Check of 5.1: lines that fill their last batch and lines that do not."""

from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="5.1", title="Static batching: steps and idle seats", kind="code", entry="static_batches",
    minutes=15, difficulty=2, evening=True, torch=False,
    sizes=(
        {"count": 5, "seats": 2}, {"count": 1, "seats": 3}, {"count": 12, "seats": 4},
        {"count": 23, "seats": 5}, {"count": 7, "seats": 1}, {"count": 40, "seats": 16},
    ),
    hints=(
        "Lengths 2, 1, 1, 3, 1 on 2 seats. Which requests are in the second batch, and how many "
        "steps does it last? How many of its seat-steps wrote a token?",
        "steps = sum over the batches of their longest length. seat-steps = steps * seats. Each "
        "token uses one of them: idle = steps * seats - sum(lengths).",
        "steps = 0\n"
        "for start in range(0, len(lengths), seats):\n"
        "    steps += ____(lengths[start : start + seats])\n"
        "idle = steps * seats - sum(lengths)\n"
        "return steps, idle",
    ),
)  # fmt: skip
BY_HAND = (2, 1, 1, 3, 1)


def make(rng, count, seats):
    lengths = [min(60, max(1, round(rng.lognormvariate(2, 0.9)))) for _ in range(count)]
    if (count, seats) == (5, 2):
        lengths = list(BY_HAND)
    return {"lengths": lengths, "seats": seats}


def judge(case, output):
    """Counted seat by seat, step by step: independent of any formula."""
    lengths, seats = case["lengths"], case["seats"]
    if not isinstance(output, (tuple, list)) or len(output) != 2:
        raise Wrong("5.1.pair", "return two whole numbers: (steps, idle)", got=output)
    steps = idle = 0
    line = list(lengths)
    while line:
        batch = [line.pop(0) for _ in range(min(seats, len(line)))]
        batch += [0] * (seats - len(batch))
        while any(batch):
            steps, idle = steps + 1, idle + batch.count(0)
            batch = [max(0, left - 1) for left in batch]
    for got, want, what in zip(output, (steps, idle), ("steps", "idle seat-steps")):
        if isinstance(got, bool) or not isinstance(got, int):
            raise Wrong("type", f"{what} must be a whole number", got=got)
        if got != want:
            shown = f" of lengths {lengths}" if len(lengths) <= 12 else ""
            text = f"the {what}{shown} on {seats} seats: another number"
            raise Wrong("5.1.count", text, expected=want, got=got)
