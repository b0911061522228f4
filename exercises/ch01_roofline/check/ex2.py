"""Check of 1.2: one small matrix, then models of odd sizes with 1 and with many rows."""

from exercises.grading.judge import TOLERANCES, Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="1.2", title="FLOPs, bytes and intensity of a step", kind="code", entry="step_cost",
    minutes=15, difficulty=2, evening=True, torch=False, tolerance="fp64",
    hints=(
        "A matrix [3, 2] has 6 weights. How many multiplications and additions do 5 rows need?",
        "flops = sum of 2 * O * I * rows. bytes = sum of (O * I + rows * (I + O)) times "
        "bytes_per_number. intensity = flops / bytes.",
        "flops = sum(2 * o * i * rows for o, i in matrices)\n"
        "moved = sum(____ for o, i in matrices) * bytes_per_number\n"
        'return {"flops": flops, "bytes": moved, "intensity": flops / moved}',
    ),
)  # fmt: skip


def cases(seed):
    import random

    rng = random.Random(f"1.2/{seed}")
    size = lambda: rng.randrange(20, 300)
    found = [{"matrices": [(3, 2)], "rows": 5, "bytes_per_number": 4}]
    for rows, width in ((1, 4), (7, 2), (173, 2), (64, 0.5)):
        matrices = [(size(), size()) for _ in range(rng.randrange(2, 6))]
        found.append({"matrices": matrices, "rows": rows, "bytes_per_number": width})
    return found


def judge(case, output):
    """Whole numbers may come as int or float: only their value counts."""
    flops = sum(2 * o * i * case["rows"] for o, i in case["matrices"])
    numbers = sum(o * i + case["rows"] * (i + o) for o, i in case["matrices"])
    moved = numbers * case["bytes_per_number"]
    want = {"flops": float(flops), "bytes": float(moved), "intensity": flops / moved}
    if not isinstance(output, dict):
        raise Wrong("type", f"the result must be a dict, yours is {type(output).__name__}")
    if set(output) != set(want):
        raise Wrong("keys", "the result has other keys", None, sorted(want), sorted(output))
    for key, value in want.items():  # the intensity is a quotient: name its parts first
        compare(output[key], value, TOLERANCES["fp64"], f"{key!r} of {case['rows']} rows")
