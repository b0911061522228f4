"""Check of 12.1: exact counts, ties, zeros of both signs, sparsity 0 and 1."""

import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="12.1", title="Drop the smallest", kind="code", entry="magnitude_mask",
    minutes=15, difficulty=2, evening=True,
    sizes=(
        {"N": 1, "K": 5, "sparsity": 0.5, "kind": "hand"},
        {"N": 3, "K": 3, "sparsity": 0.5, "kind": "normal"},
        {"N": 4, "K": 7, "sparsity": 0.3, "kind": "grid"},
        {"N": 5, "K": 13, "sparsity": 0.25, "kind": "zeros"},
        {"N": 2, "K": 5, "sparsity": 0.4, "kind": "same"},
        {"N": 3, "K": 5, "sparsity": 0.0, "kind": "zeros"},
        {"N": 4, "K": 3, "sparsity": 1.0, "kind": "grid"},
        {"N": 9, "K": 33, "sparsity": 0.7, "kind": "grid"},
        {"N": 1, "K": 1, "sparsity": 0.25, "kind": "normal"},
        {"N": 3, "K": 7, "sparsity": 0.5, "kind": "close"},
    ),
    hints=(
        "The weights are 0.2, -0.1, 0.1, -3, 0.1, and sparsity is 0.3. How many are dropped? Which "
        "ones? And how many weights have |w| up to 0.1?",
        "order = places of the flattened |w| from the smallest to the largest, a stable sort: it "
        "leaves equals as they stand. The first `count` of them are dropped. mask: n values True, "
        "False at these places, then shape [N, K].",
        "count = int(sparsity * weight_NK.numel() + 0.5)\n"
        "order = weight_NK.abs().flatten().argsort(____)\n"
        "mask = torch.ones(weight_NK.numel(), dtype=torch.bool)\n"
        "mask[order[:count]] = False\n"
        "return mask.view_as(weight_NK)",
    ),
)  # fmt: skip


def make(rng, N, K, sparsity, kind):
    """grid: as int4 left them, zeros too; zeros: a third are 0.0 or -0.0; same: one size; close:
    16 bits cannot tell them apart."""
    if kind == "hand":  # few sizes: the second of equals is decided by hand
        values = [rng.choice((-1, 1)) * rng.choice((0.1, 0.1, 0.2, 3.0)) for _ in range(N * K)]
        weight_NK = torch.tensor(values).view(N, K)
    elif kind == "grid":
        codes = [rng.choice((-1, 1)) * rng.randint(0, 7) for _ in range(N * K)]
        weight_NK = torch.tensor(codes).view(N, K) * rng.uniform(0.01, 0.2)
    elif kind == "close":
        steps = rng.sample(range(N * K), N * K)
        weight_NK = (1 + torch.tensor(steps).view(N, K) * 2.0**-18) * rng.choice((-0.5, 0.5))
    elif kind == "same":
        signs = [rng.choice((-1.0, 1.0)) for _ in range(N * K)]
        weight_NK = torch.tensor(signs).view(N, K) * rng.uniform(0.1, 2)
    else:
        weight_NK = normal(rng, N, K)
    if kind == "zeros":
        places = rng.sample(range(N * K), (N * K + 2) // 3)
        for number, place in enumerate(places):
            weight_NK.view(-1)[place] = (0.0, -0.0)[number % 2]
    return {"weight_NK": weight_NK, "sparsity": sparsity}


def judge(case, output):
    """How many first: a wrong number explains more than the first place that differs."""
    want = spec.reference("12.1")(**case)
    if torch.is_tensor(output) and output.dtype == want.dtype and output.shape == want.shape:
        count, dropped = int((~want).sum()), int((~output).sum())
        if dropped != count:
            raise Wrong(
                "12.1.count", f"of {want.numel()} weights with sparsity {case['sparsity']}, "
                f"exactly {count} must be dropped", None, count, dropped,
            )  # fmt: skip
    compare(output, want, what="the mask")
