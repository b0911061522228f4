"""Check of 4.3: one query, as many queries as keys, and chunks in between."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="4.3", title="A mask for fewer queries than keys", kind="code", entry="causal_mask",
    minutes=15, difficulty=2,
    sizes=(
        {"cached": 1, "new": 1}, {"cached": 1, "new": 2}, {"cached": 0, "new": 1},
        {"cached": 0, "new": 4}, {"cached": 12, "new": 7}, {"cached": 40, "new": 1},
    ),
    hints=(
        "4 tokens are cached and 2 come. Their positions are 4 and 5. How many of the 6 keys does "
        "the first of the two see?",
        "query t stands at position num_keys - num_queries + t. "
        "mask[t, l] = (l <= num_keys - num_queries + t). Shape [num_queries, num_keys].",
        "query_T = torch.arange(____, num_keys)\n"
        "return torch.arange(num_keys) <= query_T[:, None]",
    ),
)  # fmt: skip


def make(rng, cached, new):
    if cached > 1:
        cached += rng.randrange(5)
    return {"num_queries": new, "num_keys": cached + new}
