"""Check of 10.4: weights on both sides of every level, never near the middle between two."""

from statistics import NormalDist

import torch

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="10.4", title="NF4", kind="code", entry="nf4",
    minutes=25, difficulty=3, tolerance="fp32",
    sizes=(
        {"N": 1, "K": 2, "block": 2, "zeros": False, "outermost": 0.9677},
        {"N": 2, "K": 6, "block": 4, "zeros": False, "outermost": 0.9677},
        {"N": 3, "K": 100, "block": 64, "zeros": True, "outermost": 0.9677},
        {"N": 5, "K": 17, "block": 8, "zeros": True, "outermost": 0.95},
    ),
    hints=(
        "A block is [0.5, -2.0, 1.0]. Which number does 0.5 become before its nearest level is "
        "looked for? A matrix [3, 100] has how many blocks of 64?",
        "levels_16 = sorted([8 quantiles, -(7 quantiles), 0]) / the largest. scale_B[b] = max |w| "
        "of block b, over weight.flatten(). code = argmin over 16 of |w / scale - level|.",
        "levels_16 = torch.cat([above_8, -below_7, torch.zeros(1)]).sort().values / above_8.max()\n"
        "scale_B = torch.stack([b.abs().max() for b in weight_NK.flatten().split(block)])\n"
        "scale_B = torch.where(scale_B == 0, 1.0, scale_B)\n"
        "scale_NK = scale_B.repeat_interleave(block)[: weight_NK.numel()].view_as(weight_NK)\n"
        "codes_NK = ((weight_NK / scale_NK)[..., None] - levels_16).abs().____(-1)\n"
        "return levels_16, codes_NK.to(torch.uint8), scale_B, levels_16[codes_NK] * scale_NK",
    ),
)  # fmt: skip


def quantiles(outermost: float, count: int) -> list[float]:
    """From the outermost one inwards; the paper's levels have 0.9677 (its appendix E).

    As there, both sides begin at the same outermost one: the statement says so.
    """
    places = [outermost + (0.5 - outermost) * i / count for i in range(count)]
    return [NormalDist().inv_cdf(p) for p in places]


def make(rng, N, K, block, zeros, outermost):
    """Each block has one weight of size 1, others up to 45% of the way to the next level."""
    above, below = quantiles(outermost, 8), quantiles(outermost, 7)
    levels = sorted([x / above[0] for x in above] + [-x / above[0] for x in below] + [0.0])
    flat, total = [], N * K
    while len(flat) < total:
        count, size = min(block, total - len(flat)), 10 ** rng.uniform(-2, 1)
        units = [_near(rng, levels) for _ in range(count)]
        units[rng.randrange(count)] = rng.choice((-1.0, 1.0))
        if zeros and len(flat) == block:  # the second block
            units = [0.0] * count
        flat += [u * size for u in units]
    rng.shuffle(above)
    rng.shuffle(below)
    return {
        "weight_NK": torch.tensor(flat).view(N, K),
        "above_8": torch.tensor(above),
        "below_7": torch.tensor(below),
        "block": block,
    }


def _near(rng, levels: list[float]) -> float:
    place = rng.randrange(1, 15)
    neighbour = levels[place + rng.choice((-1, 1))]
    return levels[place] + rng.uniform(0.05, 0.45) * (neighbour - levels[place])
