"""Check of 13.2: groups of several sizes, equal importances, and numbers that cannot be kept."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="13.2", title="Take out heads and keep the groups", kind="code", entry="drop_heads",
    minutes=30, difficulty=3,
    sizes=(
        {"D": 1, "H": 2, "G": 1, "K": 1, "heads": 1, "kv_heads": 1},
        {"D": 3, "H": 6, "G": 2, "K": 2, "heads": 4, "kv_heads": 2},
        {"D": 5, "H": 8, "G": 2, "K": 4, "heads": 3, "kv_heads": 1},
        {"D": 6, "H": 12, "G": 4, "K": 2, "heads": 4, "kv_heads": 2},
        {"D": 4, "H": 9, "G": 3, "K": 2, "heads": 9, "kv_heads": 3},
        {"D": 4, "H": 12, "G": 3, "K": 2, "heads": 4, "kv_heads": 2, "equal": True},
        {"D": 7, "H": 8, "G": 4, "K": 6, "heads": 4, "kv_heads": 4},
        {"D": 2, "H": 48, "G": 16, "K": 2, "heads": 16, "kv_heads": 8},
        {"D": 2, "H": 60, "G": 20, "K": 1, "heads": 10, "kv_heads": 10},
        {"D": 1, "H": 48, "G": 12, "K": 2, "heads": 14, "kv_heads": 7, "equal": True},
        {"D": 2, "H": 6, "G": 2, "K": 2, "heads": 3, "kv_heads": 2},  # not equally many
        {"D": 2, "H": 8, "G": 4, "K": 2, "heads": 6, "kv_heads": 2},  # more than a group has
        {"D": 2, "H": 6, "G": 2, "K": 2, "heads": 6, "kv_heads": 3},  # more than there are
        {"D": 2, "H": 6, "G": 2, "K": 2, "heads": 0, "kv_heads": 1},  # none
        {"D": 2, "H": 6, "G": 2, "K": 2, "heads": 2, "kv_heads": 0},
        {"D": 2, "H": 4, "G": 2, "K": 2, "heads": -2, "kv_heads": -1},
    ),
    hints=(
        "8 query heads, 2 KV heads: heads 0 to 3 share KV head 0. Head 5 alone is removed, and the "
        "7 that stay share 2 KV heads. Which one does old head 4 use now, with h // (7 / 2)?",
        "size = H // G. Group g has the query heads g*size to (g+1)*size - 1; heads / kv_heads of "
        "each stay. Rows of the heads in `kept`: kept[:, None] * K + arange(K), flattened.",
        "per_group = heads // kv_heads  # after all the ValueErrors\n"
        "best = lambda numbers, score, n: sorted(sorted(numbers, key=lambda i: -score(i))[:n])\n"
        "members = lambda g: range(g * size, (g + 1) * size)\n"
        "groups = best(range(G), lambda g: sum(importance_H[h] for h in ____), kv_heads)\n"
        "kept = [h for g in groups for h in best(members(g), lambda h: importance_H[h], per_group)]"
        "\nrows = lambda heads: [h * K + i for h in heads for i in range(K)]",
    ),
)  # fmt: skip


def make(rng, D, H, G, K, heads, kv_heads, equal=False):
    """Importances are whole numbers (their sums are exact); equal: many of them the same."""
    if min(D, H, G, K) < 1 or H % G:
        raise ValueError("whole groups of query heads")
    matrix = lambda *shape: normal(rng, *shape, dtype=torch.float64)
    scores = [rng.randint(1, 2) for _ in range(H)] if equal else rng.sample(range(1, 10 * H), H)
    return {
        "q_QD": matrix(H * K, D), "k_UD": matrix(G * K, D), "v_UD": matrix(G * K, D),
        "o_DQ": matrix(D, H * K), "importance_H": [float(s) for s in scores], "head_size": K,
        "heads": heads, "kv_heads": kv_heads,
    }  # fmt: skip


GIVEN = "q_QD", "k_UD", "v_UD", "o_DQ", "importance_H", "head_size", "heads", "kv_heads"


def drive(answer, case):
    """A ValueError of the answer's own is an outcome like any other."""
    try:
        return answer(*(case[name] for name in GIVEN))
    except ValueError as error:
        return {"ValueError": str(error)[:200]}


NAMES = "q", "k", "v", "o"


def judge(case, output):
    want = drive(spec.reference("13.2"), case)
    asked = f"{case['heads']} query heads and {case['kv_heads']} KV heads"
    there = f"{len(case['importance_H'])} and {len(case['k_UD']) // case['head_size']}"
    if isinstance(want, dict):
        if not isinstance(output, dict):
            raise Wrong("13.2.refuse", f"{asked} of {there} cannot remain{_why(case)}: raise "
                        "ValueError")  # fmt: skip
        return
    if isinstance(output, dict):
        raise Wrong("13.2.refused", f"{asked} of {there} can remain, yours refuses",
                    got=output.get("ValueError"))  # fmt: skip
    if not isinstance(output, (tuple, list)) or len(output) != 4:
        raise Wrong("13.2.four", "drop_heads must return four matrices", got=output)
    _same_heads(case, output, want)
    for name, got, one in zip(NAMES, output, want):
        compare(got, one, TOLERANCES["exact"], f"the smaller {name}")


def _why(case) -> str:
    """What is wrong with the numbers asked for, as far as one division says it."""
    heads, kv_heads = case["heads"], case["kv_heads"]
    size = len(case["importance_H"]) * case["head_size"] // len(case["k_UD"])
    if kv_heads < 1 or heads < 1:
        return ""
    return f" ({heads / kv_heads:g} for each KV head, and each has {size})"


def _same_heads(case, output, want) -> None:
    """Says which heads stay where that can be told: numbers of heads are read, weights are not."""
    olds = (case["q_QD"], case["k_UD"], case["v_UD"], case["o_DQ"].T)
    flip = lambda parts: (*parts[:3], parts[3].T)
    if not all(torch.is_tensor(g) and g.shape == w.shape for g, w in zip(output, want)):
        return
    for name, old, new, one in zip(NAMES, olds, flip(output), flip(want)):
        got, right = (_heads(m, old, case["head_size"]) for m in (new, one))
        kind = "KV heads" if name in "kv" else "query heads"
        if got is None or got == right:
            continue
        what = "the right ones, but not in their old order" if sorted(got) == right else "others"
        raise Wrong("13.2.heads", f"{name}: {kind} that stay: {what}", None, right, got)


def _heads(new, old, size) -> list[int] | None:
    """Which of the old heads `new` consists of; None where a head is not whole."""
    heads = [block.tolist() for block in old.split(size)]
    found = [block.tolist() for block in new.split(size)]
    return [heads.index(b) for b in found] if all(b in heads for b in found) else None
