"""Check of 7.2: who computes how many tokens; budgets that end everywhere, seats that run out."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="7.2", title="A plan under a token budget", kind="code", entry="plan_step",
    minutes=25, difficulty=3, evening=True, torch=False,
    sizes=(
        {"writing": 1, "reading": 1, "waiting": 1, "cut": "first waiting", "free_seats": 1},
        {"writing": 2, "reading": 2, "waiting": 2, "cut": "first reading", "free_seats": 2},
        {"writing": 5, "reading": 2, "waiting": 2, "cut": "writing", "free_seats": 2},
        {"writing": 3, "reading": 2, "waiting": 4, "cut": "last waiting", "free_seats": 4},
        {"writing": 3, "reading": 1, "waiting": 8, "cut": "nowhere", "free_seats": 2},
        {"writing": 0, "reading": 3, "waiting": 3, "cut": "exactly", "free_seats": 3},
        {"writing": 4, "reading": 0, "waiting": 4, "cut": "first waiting", "free_seats": 0},
        {"writing": 0, "reading": 0, "waiting": 3, "cut": "last waiting", "free_seats": 3},
    ),
    hints=(
        "The budget is 8 tokens. A, B and C each need one token, then D waits with a prompt of "
        "20. How many tokens of D are computed in this step? And in the next one, if A has ended?",
        "Three passes over one budget: running with pending = 1, running with pending > 1, then "
        "waiting while a seat is free. count = min(pending, budget left); stop when it is 0.",
        "plan, seats = [], max_num_seqs - len(running)\n"
        "order = sorted(running, key=lambda item: item[1] > 1)  # stable: keeps the order\n"
        "for name, pending in order + waiting[: ____]:\n"
        "    count = min(pending, budget)\n"
        "    if count > 0:\n"
        "        plan.append((name, count))\n"
        "        budget -= count\n"
        "return plan",
    ),
)  # fmt: skip
NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def make(rng, writing, reading, waiting, cut, free_seats):
    """The kinds of running ones are mixed; the budget ends where `cut` says."""
    running = [1] * writing + [rng.randrange(3, 40) for _ in range(reading)]
    rng.shuffle(running)
    if reading and writing and running == sorted(running):
        running.reverse()  # a reading one stands before a writing one
    prompts = [rng.randrange(3, 40) for _ in range(waiting)]
    if waiting > 1 and prompts == sorted(prompts):
        prompts.reverse()  # the shortest is not the first
    pieces = sorted(running, key=lambda pending: pending > 1) + prompts[: min(waiting, free_seats)]
    upto = lambda k: sum(pieces[:k])
    old = writing + reading
    budget = {
        "writing": max(writing // 2, 1),
        "first reading": writing + 2,
        "first waiting": upto(old) + 2,
        "last waiting": upto(len(pieces) - 1) + 1,
        "exactly": upto(old + 1),
        "nowhere": sum(running) + sum(prompts) + 9,
    }[cut]
    named = iter(NAMES)
    return {
        "running": [(next(named), pending) for pending in running],
        "waiting": [(next(named), pending) for pending in prompts],
        "budget": max(budget, 1),
        "max_num_seqs": max(old + free_seats, 1),
    }


def judge(case, output):
    want = spec.reference("7.2")(**case)
    if isinstance(output, list) and all(_is_item(item) for item in output):
        total = sum(count for _, count in output)
        if total > case["budget"]:
            said = f"the plan computes {total} tokens, the budget is {case['budget']}"
            raise Wrong("7.2.budget", said, None, want, output)
    compare(output, want, what="the plan")


def _is_item(item) -> bool:
    return isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[1], int)
