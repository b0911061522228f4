"""Check of 5.2: who sits where in every step; the first difference is told by step and seat."""

from exercises.grading import spec
from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="5.2", title="Continuous batching: refill at the next step", kind="code",
    entry="continuous_timeline", minutes=25, difficulty=3, evening=True, torch=False,
    sizes=(
        {"count": 3, "seats": 2}, {"count": 1, "seats": 2}, {"count": 9, "seats": 3},
        {"count": 17, "seats": 4}, {"count": 5, "seats": 1}, {"count": 30, "seats": 8},
    ),
    hints=(
        "Lengths 1, 3, 2 on 2 seats. After the first step request 0 is done. Who sits on seat 0 in "
        "the SECOND step? Is there a step in which seat 0 is empty?",
        "per step: free seats <- head of the line; record a COPY of the seats; left[who] -= 1; "
        "left[who] == 0 -> the seat is None. Stop when all seats are None after filling.",
        "waiting, left = list(range(len(lengths))), list(lengths)\n"
        "sitting, timeline = [None] * seats, []\n"
        "while True:\n"
        "    for seat in range(seats):\n"
        "        if ____ and waiting:\n"
        "            sitting[seat] = waiting.pop(0)\n"
        "    if all(who is None for who in sitting):\n"
        "        return timeline\n"
        "    timeline.append(list(sitting))\n"
        "    for seat, who in enumerate(sitting):\n"
        "        if who is not None:\n"
        "            left[who] -= 1\n"
        "            sitting[seat] = who if left[who] else None",
    ),
)  # fmt: skip


def make(rng, count, seats):
    lengths = [min(40, max(1, round(rng.lognormvariate(1.6, 0.9)))) for _ in range(count)]
    if (count, seats) == (3, 2):
        lengths = [1, 3, 2]
    return {"lengths": lengths, "seats": seats}


def judge(case, output):
    """As the reference; a difference is told as step and seat, an alias by name."""
    want = spec.reference("5.2")(**case)
    if not isinstance(output, (list, tuple)):
        raise Wrong("type", "return a list: one list of seats for every step", got=output)
    if len(output) > 1 and len(want) > 1 and all(row == output[-1] for row in output):
        if any(row != want[-1] for row in want):
            text = "every step shows the same seats: append a COPY of the list, list(sitting)"
            raise Wrong("5.2.alias", text, got=output[-1])
    for step, (got_row, want_row) in enumerate(zip(output, want)):
        if not isinstance(got_row, (list, tuple)) or len(got_row) != case["seats"]:
            text = f"step {step} must be a list of {case['seats']} seats"
            raise Wrong("5.2.row", text, got=got_row)
        for seat, (got, who) in enumerate(zip(got_row, want_row)):
            if type(got) is not type(who) or got != who:
                name = lambda x: "nobody (None)" if x is None else f"request {x!r}"
                text = f"step {step}, seat {seat}: {name(who)} must sit there, yours has"
                raise Wrong("5.2.seat", f"{text} {name(got)}", (step, seat))
    if len(output) != len(want):
        raise Wrong("5.2.steps", "another number of steps", expected=len(want), got=len(output))
