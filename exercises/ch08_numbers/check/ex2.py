"""Check of 8.2: ranges around 0, only above it, only below; values lie well off the ties."""

import torch

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
