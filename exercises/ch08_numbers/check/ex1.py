"""Check of 8.1: both signs, several shapes; values lie well off the ties of rounding."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="8.1", title="A tensor in int8", kind="code", entry="absmax_int8",
    minutes=15, difficulty=1, evening=True, tolerance="fp32",
    sizes=({"shape": (3,)}, {"shape": (3, 5)}, {"shape": (7, 33)}, {"shape": (2, 3, 9)}),
    hints=(
        "x is [0.5, -2.0, 1.0]. Which number gets code -127? How large is one step? How many steps "
        "is 0.5?",
        "scale = max |x| / 127, shape []. codes = round(x / scale), int8, the shape of x. "
        "back = codes * scale.",
        "scale = x.abs().max() / ____\n"
        "codes = (x / scale).round().to(torch.int8)\n"
        "return codes, scale, codes * scale",
    ),
)  # fmt: skip


def make(rng, shape):
    count = torch.Size(shape).numel()
    steps = [rng.randint(-120, 120) + rng.uniform(-0.4, 0.4) for _ in range(count)]
    ends = (-127,) if len(shape) == 1 else (-127, 127)
    steps[rng.randrange(count)] = rng.choice(ends)
    return {"x": torch.tensor(steps).reshape(shape) * 10 ** rng.uniform(-3, 1)}


def judge(case, output):
    want = spec.reference("8.1")(**case)
    if not isinstance(output, (list, tuple)) or len(output) != len(want):
        compare(output, want)
    names = ("result[0] (the codes)", "result[1] (the scale)", "result[2] (the values again)")
    for name, found, right in zip(names, output, want):
        compare(found, right, TOLERANCES["fp32"], name)
