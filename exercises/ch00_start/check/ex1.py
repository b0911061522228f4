"""Check of 0.1: the pool after writing, and what was read; slots out of order, rows read twice."""

import torch

from exercises.grading.judge import TOLERANCES, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="0.1", title="Rows of a pool", kind="code", entry="write_and_read",
    minutes=5, difficulty=1, evening=True, tolerance="exact",
    sizes=({"N": 4, "D": 1, "T": 2, "L": 2}, {"N": 5, "D": 3, "T": 1, "L": 4},
           {"N": 33, "D": 7, "T": 13, "L": 19}),
    hints=(
        "pool has 4 rows, slots is [2, 0], rows is [[10.], [20.]]. Which row of the pool is 10 "
        "afterwards?",
        "pool[index] with a tensor of T whole numbers means these T rows. It may stand on the "
        "left of = too. pool [N, D], slots [T], rows [T, D], wanted [L], result [L, D].",
        "pool[____] = rows\nreturn pool[wanted]",
    ),
)  # fmt: skip


def make(rng, N, D, T, L):
    slots = rng.sample(range(N), T)
    if slots == sorted(slots):  # an order that is not the pool's own
        slots.reverse()
    if slots == [0]:
        slots = [N - 1]
    wanted = [slots[-1], slots[-1], *(rng.randrange(N) for _ in range(L - 2))]
    return {
        "pool": normal(rng, N, D),
        "slots": torch.tensor(slots),
        "rows": normal(rng, T, D),
        "wanted": torch.tensor(wanted),
    }


def drive(answer, case):
    pool = case["pool"].clone()  # the answer is meant to change it
    read = answer(pool, case["slots"], case["rows"], case["wanted"])
    return {"pool": pool, "read": read}


HOW = "read: what you returned. pool: the pool afterwards."


def judge(case, output):
    pool = case["pool"].clone()
    pool[case["slots"]] = case["rows"]
    compare(output["pool"], pool, TOLERANCES["exact"], "the pool afterwards")
    compare(output["read"], pool[case["wanted"]], TOLERANCES["exact"], "what you returned")


def calls(case, mine):
    """For explain: the same call, with the pool before and after."""
    made = [f"{name} = torch.tensor({value.tolist()})" for name, value in case.items()]
    return ["import torch", "", *made, f"print({mine}(pool, slots, rows, wanted))", "print(pool)"]
