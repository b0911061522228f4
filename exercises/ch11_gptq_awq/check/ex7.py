"""Check of 11.7: gains and losses in unlike numbers, and wrong answers that only change."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, number
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="11.7", title="Answers that flip", kind="code", entry="flips",
    minutes=10, difficulty=1, torch=False, tolerance="fp32",
    sizes=(
        {"lost": 1, "won": 1, "changed": 1, "kept": 1}, {"lost": 5, "won": 2, "changed": 3},
        {"lost": 2, "won": 6, "changed": 7, "kept": 20}, {"lost": 4, "won": 4, "kept": 31},
        {"lost": 0, "won": 0, "changed": 5, "kept": 3}, {"lost": 3, "kept": 0},
    ),
    hints=(
        "10 questions. The first model is right on 1 to 6, the second on 3 to 8. How many answers "
        "flipped? And how far apart are the two shares of right answers?",
        "flipped = number of questions where (wanted == before) != (wanted == after), over all. "
        "hidden = flipped - |right after - right before|.",
        "count = len(wanted)\n"
        "right_before = sum(w == b for w, b in zip(wanted, before)) / count\n"
        "right_after = sum(w == a for w, a in zip(wanted, after)) / count\n"
        "flipped = sum((w == b) ____ (w == a) for w, b, a in zip(wanted, before, after)) / count\n"
        "return right_before, right_after, flipped, flipped - abs(right_after - right_before)",
    ),
)  # fmt: skip
NAMES = ("right before", "right after", "flipped", "hidden")


def make(rng, lost=0, won=0, changed=0, kept=2):
    """kept: right in both; changed: wrong in both, with other answers (and one with the same)."""
    rows = []
    for kind in ["lost"] * lost + ["won"] * won + ["changed"] * changed + ["kept"] * kept:
        right, one, other = rng.sample([str(n) for n in range(100, 999)], 3)
        rows.append({
            "lost": (right, right, one), "won": (right, one, right),
            "changed": (right, one, other), "kept": (right, right, right),
        }[kind])  # fmt: skip
    rows += [("7", "8", "8")] * (not rows or changed > 0)  # wrong in both, and the same
    rng.shuffle(rows)
    return dict(zip(("wanted", "before", "after"), map(list, zip(*rows))))


def judge(case, output):
    if not isinstance(output, (tuple, list)) or len(output) != 4:
        raise Wrong("11.7.four", "flips must return four numbers", got=output)
    for name, got, want in zip(NAMES, output, spec.reference("11.7")(**case)):
        if abs(number(got, name) - want) > 1e-9:  # shares: sums and quotients of small numbers
            raise Wrong("value", f"the share {name} is another number", None, want, got)
