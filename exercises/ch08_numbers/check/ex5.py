"""Check of 8.5: exact equality on normal and subnormal numbers, ties, 0, and beyond the end."""

import torch

from exercises.grading.counting import LightMode
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="8.5", title="E4M3 by hand", kind="code", entry="round_e4m3",
    minutes=25, difficulty=3,
    sizes=({"count": 8}, {"count": 40}, {"count": 200}),
    hints=(
        "5.3 lies between 4 and 8, so e = 2. How large is a step there? Which two values of the "
        "format are its neighbours? And what is the step for 0.01, where e may not be below -6?",
        "e = floor(log2 |x|), at least -6. step = 2^(e-3). out = round(x / step) * step, after "
        "x is kept in -448 .. 448. torch.frexp gives x = m * 2^f with 0.5 <= |m| < 1: e = f - 1.",
        "x = x.clamp(-448, 448)\n"
        "exponent = (torch.frexp(x).exponent - 1).clamp(min=____)\n"
        "step = torch.exp2((exponent - 3).float())\n"
        "return torch.round(x / step) * step",
    ),
)  # fmt: skip

FLOAT8 = "made with torch's float8 type"  # in place of the result


def make(rng, count):
    """The first of every case are the places where answers go wrong.

    0 only in the larger ones: its step is anything, and trace, on a small one, would aim at it.
    """
    sign = rng.choice((-1, 1))
    values = [
        sign * 500.0, sign * 460.0, -sign * 2**-9 * rng.randint(1, 7),  # a subnormal
        sign * 2**-9 * (rng.randint(0, 3) * 2 + 0.5), 17.0 * sign,  # two ties
        sign * rng.uniform(5.05, 5.2), -sign * rng.uniform(250, 430),
    ]  # fmt: skip
    values += [0.0] * (count > 8)
    values += [rng.choice((-1, 1)) * 2 ** rng.uniform(-11, 9.5) for _ in range(count - len(values))]
    return {"x": torch.tensor(values)}


def drive(answer, case):
    """torch's own type would do the work: its operations are looked for."""

    class Watch(LightMode):
        used = False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            self.used |= isinstance(out, torch.Tensor) and "float8" in str(out.dtype)
            return out

    with Watch() as watch:
        out = answer(case["x"])
    return FLOAT8 if watch.used else out


def calls(case, mine):
    """For explain: the call itself."""
    from exercises.desk.explain import literal

    return ["import torch", "", f"x = {literal(case['x'])}", f"print({mine}(x))"]


def judge(case, output):
    from exercises.grading import spec

    if isinstance(output, str) and output == FLOAT8:
        raise Wrong("8.5.float8", "this uses torch's float8 type: round by hand")
    compare(output, spec.reference("8.5")(**case))
