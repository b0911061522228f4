"""Check of 3.2: top_p lies where counting before or after top-k, or other slips, differ."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="3.2", title="Top-k and top-p", kind="code", entry="keep_likely",
    minutes=20, difficulty=3, evening=True, tolerance="fp32",
    sizes=(
        {"V": 4, "top_k": 0, "temperature": 1.0},
        {"V": 37, "top_k": 9, "temperature": 1.7},
        {"V": 37, "top_k": 9_999_999, "temperature": 0.6},
        {"V": 101, "top_k": 13, "temperature": 0.8},
        {"V": 50, "top_k": 0, "temperature": 2.0, "top_p": 1.0},
        {"V": 31, "top_k": 3, "temperature": 0.9, "top_p": 1.0},  # top-k alone decides
        {"V": 50, "top_k": 5, "temperature": 1.3, "top_p": 1e-4},
    ),
    hints=(
        "Probabilities 0.5, 0.3, 0.2 and top_p = 0.6. The tokens before the second one hold 0.5. "
        "Is 0.5 less than 0.6? So how many tokens stay?",
        "before[i] = sum of p[j] over all j likelier than i. Keep i if before[i] < top_p. "
        "In sorted order: before = cumsum(p) - p. Shapes: all [V]. To go back from sorted order: "
        "back[order] = values.",
        "kept_V = logits_V / temperature\n"
        "if 0 < top_k < len(kept_V):\n"
        "    kept_V = kept_V.masked_fill(kept_V < kept_V.topk(top_k).values[-1], -torch.inf)\n"
        "probs_V = kept_V.softmax(-1)\n"
        "sorted_V, order_V = probs_V.sort(descending=True)\n"
        "before_V = torch.empty_like(probs_V)\n"
        "before_V[____] = sorted_V.cumsum(-1) - sorted_V\n"
        "left_V = probs_V * (before_V < top_p)\n"
        "return left_V / left_V.sum()",
    ),
)  # fmt: skip


def make(rng, V, top_k, temperature, top_p=None):
    if V < 2:
        raise ValueError("with one token there is nothing to choose")
    logits_V = normal(rng, V, scale=1.5)
    if V == 4:  # checkable by hand: 0.5, 0.3, 0.15, 0.05 in some order; two tokens stay
        import torch

        places = rng.sample(range(V), V)
        logits_V = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()[places]
    if top_p is None:
        top_p = _between(logits_V / temperature, top_k) if V > 4 else 0.6
    return {"logits_V": logits_V, "temperature": temperature, "top_k": top_k, "top_p": top_p}


def _between(logits_V, top_k):
    """A top_p that keeps a token when counted over all, but not when counted after top-k."""
    everything_V = logits_V.double().softmax(-1).sort(descending=True).values
    count = top_k if 0 < top_k < len(logits_V) else len(logits_V)
    place = min(4, count - 1)
    before = float(everything_V[:place].sum())
    return round(before * (0.5 + 0.5 / float(everything_V[:count].sum())) + 0.004, 4)
