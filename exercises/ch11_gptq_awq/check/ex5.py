"""Check of 11.5: the recorded curve of the shipped model; close tasks count as ties.

tests/test_ch11.py compares the record with the model.
"""

import json
from itertools import combinations
from pathlib import Path

from exercises.grading import spec
from exercises.grading.judge import Wrong, number
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="11.5", title="Which task falls first?", kind="predict", entry="answer",
    minutes=10, difficulty=2, evening=True, torch=False,
    hints=(
        "At 4 bits a weight is one of 16 values, at 3 bits one of 8, at 2 bits one of 4. An error "
        "of the outputs is about as large as the step. When is the step as large as most weights?",
        "Looking up is one step: attention finds the place and copies what stands there. A sum or "
        "a sorted number needs every digit right, and each digit depends on several others.",
        'answer = {"bits": 2 or 3 or 4, "recall": ____, "copy": ..., "sort": ..., "add": ..., '
        '"code": ...}  # the tasks that look up come last, so they have the highest ranks',
    ),
)  # fmt: skip
RECORD = json.loads((Path(__file__).parents[1] / "fragility.json").read_text("utf-8"))
TIE = 0.1  # 200 items a task: a share is known to about 3.5 points, a difference to 5; twice that
MAY_DIFFER = 2  # of the ten pairs


def make(rng):
    """The same question for everybody: there is one model."""
    shares = {r["bits"]: r["tasks"] for r in RECORD["rows"] if r["method"] in ("none", "rtn")}
    before = shares.pop(32)
    return {"before": before, "curve": shares, "least": 100 * min(before.values())}


def judge(case, output):
    want, tasks = spec.reference("11.5")(**case), list(case["before"])
    if not isinstance(output, dict) or set(output) != set(want):
        raise Wrong("keys", f"the answer must be a dict with the keys {list(want)}", got=output)
    got = {key: number(output[key], f"answer[{key!r}]") for key in want}
    if sorted(got[task] for task in tasks) != [1, 2, 3, 4, 5]:
        raise Wrong("11.5.ranks", "the five tasks must have the ranks 1, 2, 3, 4, 5, each once")
    if got["bits"] not in case["curve"]:
        raise Wrong("11.5.bits", f"bits must be one of {list(case['curve'])}", got=got["bits"])
    if got["bits"] != want["bits"]:
        holds = "there every task still holds"
        falls = "a task has lost more than 10 points with more bits already"
        raise Wrong("11.5.bits", f"bits: {holds if got['bits'] > want['bits'] else falls}")
    turned, apart = turned_pairs(case["curve"][want["bits"]], got)
    if turned > MAY_DIFFER:
        raise Wrong("11.5.order", f"bits is right. Of the {apart} pairs of tasks that lie clearly "
                    f"apart, {turned} stand the other way round; {MAY_DIFFER} may")  # fmt: skip


def turned_pairs(shares: dict, ranks: dict) -> tuple[int, int]:
    """Pairs in the wrong order, and all pairs that lie apart."""
    apart = [(a, b) for a, b in combinations(shares, 2) if abs(shares[a] - shares[b]) >= TIE]
    turned = [(a, b) for a, b in apart if (shares[a] < shares[b]) != (ranks[a] < ranks[b])]
    return len(turned), len(apart)
