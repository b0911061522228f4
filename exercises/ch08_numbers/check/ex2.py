"""Check of 8.2: ranges around 0, only above it, only below; values lie well off the ties."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="8.2", title="Values on one side", kind="code", entry="asymmetric_uint8",
    minutes=20, difficulty=3, tolerance="fp32",
    sizes=(
        {"shape": (3,), "side": 0}, {"shape": (5, 7), "side": 0}, {"shape": (4, 9), "side": 1},
        {"shape": (33,), "side": -1}, {"shape": (2, 3, 5), "side": 0},
    ),
    hints=(
        "x is [-1, 0, 4.1]. How large is one of 255 steps? Which code has 0? And if x is "
        "[2, 3, 5.1]: where does the range begin?",
        "low = min(x, 0), high = max(x, 0). scale = (high - low) / 255. zero = round(-low / scale)."
        " codes = round(x / scale) + zero, kept in 0 .. 255.",
        "low, high = x.min().clamp(max=0), x.max().clamp(min=0)\n"
        "scale = (high - low) / 255\n"
        "zero = round(float(____ / scale))\n"
        "codes = ((x / scale).round() + zero).clamp(0, 255).to(torch.uint8)\n"
        "return codes, scale, zero, (codes.float() - zero) * scale",
    ),
)  # fmt: skip


def make(rng, shape, side):
    """side 1: all x above 0, -1: all below, 0: both."""
    zero = {1: 0, -1: 255, 0: rng.choice((rng.randint(20, 90), rng.randint(160, 230)))}[side]
    least, most = (60 if side == 1 else 1), (195 if side == -1 else 254)
    count = torch.Size(shape).numel()
    codes = [rng.randint(least, most) + rng.uniform(-0.4, 0.4) for _ in range(count)]
    first, second = rng.sample(range(count), 2)
    codes[first] = codes[first] if side == 1 else 0
    codes[second] = codes[second] if side == -1 else 255
    steps = torch.tensor([code - zero for code in codes])
    return {"x": steps.reshape(shape) * 10 ** rng.uniform(-3, 0)}


def judge(case, output):
    want = spec.reference("8.2")(**case)
    if not isinstance(output, (list, tuple)) or len(output) != len(want):
        compare(output, want)
    names = ("the codes", "the scale", "zero", "the values again")
    for place, (name, found, right) in enumerate(zip(names, output, want)):
        try:
            compare(found, right, TOLERANCES["fp32"], f"result[{place}] ({name})")
        except Wrong as wrong:
            if place == 3 and wrong.id == "value":
                _wrapped(output, wrong)
            raise


def _wrapped(output, wrong):
    """All before the values is right. Do they lie 256 steps off, as uint8 wraps round?"""
    codes, scale, zero, back = output
    steps = codes.long() - zero
    if torch.allclose(back, (steps % 256) * scale) and bool((steps < 0).any()):
        code, below = int(codes[wrong.index]), int(steps[wrong.index])
        wrong.id = "8.2.wrap"
        wrong.message += (
            f". zero is subtracted while the codes are uint8: {code} - {zero} is {below}, "
            f"but uint8 has no numbers below 0 and wraps round to {below + 256}. "
            "Make the codes float first"
        )
