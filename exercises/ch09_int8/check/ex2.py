"""Check of 9.2: bytes moved for a token by three programs; sizes depend on who asks."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, within
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="9.2", title="Three times int8", kind="predict", entry="answer",
    minutes=10, difficulty=2, evening=True, torch=False,
    hints=(
        "One weight, program 2: how many bytes are read as int8, how many are written as float32, "
        "and how many are read again by the product?",
        "time = bytes moved / bandwidth. Bytes a weight: what is read + what is written + what is "
        "read again. Milliseconds = million weights * bytes a weight / (GB/s).",
        "[4 * P / B, (1 + ____) * P / B, 1 * P / B]",
    ),
)  # fmt: skip
NAMES = ("fake-quantised", "dequantise first", "packed")


def make(rng):
    return {"P": rng.choice((120, 150, 200, 250, 320)), "B": rng.choice((8, 10, 16, 20, 25))}


def judge(case, output):
    if not isinstance(output, (list, tuple)) or len(output) != 3:
        raise Wrong("length", "the answer must be a list of 3 numbers", got=output)
    for place, want in enumerate(spec.reference("9.2")(**case)):
        what = f"answer[{place}], {NAMES[place]},"
        within(output[place], want, EXERCISE.band, what)
