"""Check of 1.4: steps where bytes, arithmetic or launches decide."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="1.4", title="Time of a step from the roofline", kind="code", entry="step_seconds",
    minutes=15, difficulty=1, evening=True, torch=False, tolerance="fp64",
    hints=(
        "Moving takes 3 ms, arithmetic 2 ms, at the same time. 100 launches take 10 us each. When "
        "is the step done?",
        "arithmetic = flops / peak. moving = moved / bandwidth. seconds = the larger of the two + "
        "launches * launch.",
        "arithmetic, moving = flops / peak, moved / bandwidth\n"
        "return ____(arithmetic, moving) + launches * launch",
    ),
)  # fmt: skip


def cases(seed):
    import random

    rng = random.Random(f"1.4/{seed}")
    easy = {"flops": 2e9, "moved": 6.0e6, "launches": 100}
    found = [easy | {"peak": 1e12, "bandwidth": 2e9, "launch": 1e-5}]
    for bound in ("bytes", "arithmetic", "launches", "bytes"):
        peak, bandwidth = rng.uniform(0.1, 60) * 1e12, rng.uniform(20, 3000) * 1e9
        seconds, other = rng.uniform(2, 9) * 1e-3, rng.uniform(2, 9) * 1e-4
        moving, arithmetic = (seconds, other) if bound == "bytes" else (other, seconds)
        launch = rng.uniform(2, 12) * 1e-6
        launches = rng.randrange(2000, 9000) if bound == "launches" else rng.randrange(1, 300)
        found.append({"flops": arithmetic * peak, "moved": moving * bandwidth,
                      "launches": launches, "peak": peak, "bandwidth": bandwidth,
                      "launch": launch})  # fmt: skip
    return found
