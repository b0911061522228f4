"""Check of 10.3: whole numbers of requests; the GPU and the format depend on who asks."""

import random

from exercises.grading import spec
from exercises.grading.judge import Wrong, number
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="10.3", title="Seats of a 70B model", kind="predict", entry="answer",
    minutes=15, difficulty=2, evening=True, torch=False,
    hints=(
        "One token of one request: how many numbers does one layer keep for K and V with 8 heads "
        "of size 128? How many bytes are 80 layers?",
        "request = 2 * layers * KV heads * head size * 2 bytes * tokens. "
        "weights = count * (bytes a weight + 2 / weights a scale serves). "
        "requests = (memory - slack - weights) / request, rounded down.",
        "request = 2 * 80 * ____ * 128 * 2 * tokens\n"
        "int4 = 70.55e9 * (0.5 + 2 / ____)\n"
        "answer = [..., int((memory - slack - int4) // request)]",
    ),
)  # fmt: skip
NAMES = ("memory", "slack", "tokens", "group")
QUESTIONS = (  # GB, GB, tokens, weights a scale; the first is the notebook's picture
    (80, 8, 4096, 32),
    (80, 6, 4096, 64),
    (80, 6, 2048, 32),
    (96, 10, 4096, 32),
    (96, 10, 8192, 32),
    (141, 8, 8192, 32),
)


def cases(seed):
    """The tracked file asks the first; a student's id picks one."""
    chosen = random.Random(f"10.3/{seed}").choice(QUESTIONS) if seed else QUESTIONS[0]
    return [dict(zip(NAMES, chosen))]


def judge(case, output):
    """Everything is given, so the number of whole requests is exact."""
    if not isinstance(output, (list, tuple)) or len(output) != 2:
        raise Wrong("length", "the answer must be a list of 2 whole numbers", got=output)
    for place, want in enumerate(spec.reference("10.3")(**case)):
        what = f"answer[{place}], with {('int8', 'int4')[place]},"
        got = number(output[place], what)
        if got != int(got):
            raise Wrong("10.3.whole", f"{what} is {got}: no part of a request can be served")
        if got != want:
            side = "many" if got > want else "few"
            raise Wrong("10.3.seats", f"{what} is {got:g}, too {side} requests")
