"""Check of 4.7: a ring that fills, is full, and turns round more than once; empty rows are NaN."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="4.7", title="A sliding window", kind="code", entry="attend_in_window",
    minutes=25, difficulty=3, tolerance="fp32", forbid=("sdpa",),
    sizes=(
        {"W": 2, "H": 1, "G": 1, "K": 2, "steps": 3},
        {"W": 1, "H": 2, "G": 2, "K": 3, "steps": 3},
        {"W": 4, "H": 6, "G": 2, "K": 5, "steps": 11},
        {"W": 7, "H": 5, "G": 1, "K": 6, "steps": 23},
        {"W": 9, "H": 4, "G": 4, "K": 3, "steps": 5},
    ),
    hints=(
        "The window is 4. Tokens 0 to 5 have come, now comes token 6. Which row does it take, and "
        "which token was there? And when only 2 tokens have come: what is 0 * NaN?",
        "row = position % W. rows in use: the first min(position + 1, W). "
        "scores_HL[h, l] = scale * q[h] . k_ring[l, h // (H // G)]. No mask is needed.",
        "window, share = k_ring.shape[0], q_HK.shape[0] // k_GK.shape[0]\n"
        "k_ring[position % window], v_ring[position % window] = k_GK, v_GK\n"
        "held = ____\n"
        "k_LHK = k_ring[:held].repeat_interleave(share, dim=1)\n"
        "v_LHK = v_ring[:held].repeat_interleave(share, dim=1)\n"
        "scores_HL = torch.einsum('hk,lhk->hl', q_HK, k_LHK) * scale\n"
        "probs_HL = scores_HL.softmax(-1)\n"
        "return torch.einsum('hl,lhk->hk', probs_HL, v_LHK)",
    ),
)  # fmt: skip
NAN = (
    "An empty row took part? A weight of 0 does not help: 0 * NaN is NaN. Cut the rows off. "
    "(Or a query saw no key at all: softmax of nothing but -inf is NaN, too.)"
)


def make(rng, W, H, G, K, steps):
    new = [(normal(rng, H, K), normal(rng, G, K), normal(rng, G, K)) for _ in range(steps)]
    if H % G:
        raise ValueError(f"{H} query heads cannot share {G} KV heads evenly")
    scale = rng.uniform(0.5, 0.9) * K**-0.5  # some models have another one than 1 / sqrt(K)
    return {"window": W, "q_k_v_of_each_call": new, "scale": scale}


def drive(answer, case):
    G, K = case["q_k_v_of_each_call"][0][1].shape
    k_ring = torch.full((case["window"], G, K), torch.nan)
    v_ring, found = k_ring.clone(), {}
    for position, (q_HK, k_GK, v_GK) in enumerate(case["q_k_v_of_each_call"]):
        out_HK = answer(k_ring, v_ring, position, q_HK, k_GK, v_GK, case["scale"])
        found[f"position {position}"] = out_HK
    return found | {"k_ring": k_ring, "v_ring": v_ring}


def judge(case, output):
    """As usual; NaN gets a word about where it may come from."""
    try:
        compare(output, drive(spec.reference("4.7"), case), TOLERANCES["fp32"])
    except Wrong as wrong:
        if wrong.id == "nan":
            wrong.message += f". {NAN}"
        raise
