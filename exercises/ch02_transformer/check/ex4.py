"""Check of 2.4: ratios that are no powers of two, one head for all, and as many as queries."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.4", title="Grouped queries: who reads which head", kind="code", entry="kv_for_queries",
    minutes=10, evening=True, difficulty=2,
    sizes=(
        {"L": 1, "G": 2, "H": 4, "K": 1},
        {"L": 3, "G": 4, "H": 12, "K": 2},
        {"L": 5, "G": 4, "H": 28, "K": 3},
        {"L": 2, "G": 1, "H": 5, "K": 4},
        {"L": 3, "G": 3, "H": 3, "K": 2},
    ),
    hints=(
        "H = 12 and G = 4. How many query heads share one key/value head? So which one does query "
        "head 7 read?",
        "query head h reads key/value head h // (H / G). The heads are dimension 1: "
        "[L, G, K] -> [L, H, K].",
        "return kv_LGK.repeat_interleave(num_heads // kv_LGK.shape[1], dim=____)",
    ),
)  # fmt: skip


def make(rng, L, G, H, K):
    return {"kv_LGK": normal(rng, L, G, K), "num_heads": H}
