"""Check of 5.4: four traces of 64 lengths for 8 seats; the lengths depend on who asks."""

import random

from exercises.grading import spec
from exercises.grading.judge import Wrong, number, within
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="5.4", title="The gain on four traces", kind="predict", entry="answer",
    minutes=15, difficulty=2, evening=True, torch=False, tolerance="bf16",
    hints=(
        "Two seats, the line is 9, 1, 1, 9. How many steps does a static engine need? How many "
        "tokens are there for each seat?",
        "static = sum of the largest number of each line. continuous = about total / 8. "
        "ratio = static / continuous.",
        'answer = {"equal": 1.0, "uniform": sum_of_largest / (total / ____), "skewed": ..., '
        '"sorted": ...}',
    ),
)  # fmt: skip
SEATS, COUNT = 8, 64
LONGEST = 96  # tokens


def cases(seed):
    """Traces for which total / seats is a fair guess of the continuous steps."""
    rng = random.Random(f"5.4/{seed}")
    traces = {
        "equal": [rng.randrange(20, 30)] * COUNT,
        "uniform": _fairest(lambda: [rng.randrange(4, 45) for _ in range(COUNT)]),
        "skewed": _fairest(lambda: [_skewed(rng) for _ in range(COUNT)]),
    }
    traces["sorted"] = sorted(traces["skewed"], reverse=True)
    return [{"traces": traces, "seats": SEATS, "equal_length": traces["equal"][0], **_text(traces)}]


def _skewed(rng):
    """Log-normal, as published traces of chat services roughly are."""
    return min(LONGEST, max(4, round(rng.lognormvariate(2.6, 1.0))))


def _fairest(draw):
    """The first of at most 20 whose last seats run empty for less than a seventh of the steps."""
    lines = [draw() for _ in range(20)]
    tail = lambda line: steps(line) * SEATS / sum(line)
    return next((line for line in lines if tail(line) < 7 / 6), min(lines, key=tail))


def steps(lengths, seats=SEATS):
    """Steps of continuous batching."""
    free = [0] * seats
    for length in lengths:
        free[free.index(min(free))] += length
    return max(free)


def _text(traces):
    found = {}
    for name in ("uniform", "skewed", "sorted"):
        line = traces[name]
        rows = [line[i : i + SEATS] for i in range(0, COUNT, SEATS)]
        text = "\n".join("    " + " ".join(f"{n:3}" for n in row) for row in rows)
        found |= {f"{name}_text": text, f"{name}_total": sum(line)}
    return found


def judge(case, output):
    """As every prediction, but all wrong entries are told at once, and a ratio upside down."""
    want = spec.reference("5.4")(**case)
    if not isinstance(output, dict) or set(output) != set(want):
        keys = ", ".join(f'"{name}"' for name in want)
        raise Wrong("keys", f"the answer must be a dict with the keys {keys}", got=output)
    faults = []
    for name in want:
        try:
            within(output[name], want[name], EXERCISE.band, f"answer[{name!r}]")
        except Wrong as wrong:
            if wrong.id != "band":  # no number at all
                raise
            faults.append(wrong)
    if not faults:
        return
    text = "\n".join(wrong.message for wrong in faults)
    if _upside_down(output, want):
        text += "\nThese look like continuous divided by static. Asked is static / continuous."
    raise Wrong(faults[0].id, text)


def _upside_down(output, want) -> bool:
    """Whether every gain of more than the band is there as 1 / gain."""
    gains = [name for name in want if want[name] > 1 + EXERCISE.band]
    given = {name: number(output[name]) for name in gains}
    return all(n < 1 and abs(n * want[name] - 1) <= EXERCISE.band for name, n in given.items())
