"""Check of 4.2: several steps over one cache whose empty part is NaN; one and many new tokens."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="4.2", title="Append and attend", kind="code", entry="append_and_attend",
    minutes=25, difficulty=3, evening=True, tolerance="fp32", forbid=("sdpa",),
    sizes=(
        {"H": 1, "G": 1, "K": 2, "steps": (1, 1), "spare": 1},
        {"H": 2, "G": 2, "K": 3, "steps": (2, 2), "spare": 0},
        {"H": 6, "G": 2, "K": 5, "steps": (5, 1, 1, 3), "spare": 3},
        {"H": 5, "G": 1, "K": 8, "steps": (1, 7, 2, 1), "spare": 6},
        {"H": 12, "G": 4, "K": 7, "steps": (17, 1, 4), "spare": 11},
    ),
    hints=(
        "The cache holds 5 tokens and 3 new ones come. In which rows of the strip do they go? How "
        "many keys does the first new query see, and how many the last? Row 8 is empty: "
        "what is 0 * NaN?",
        "rows length .. length+T-1 of the strips = k_TGK, v_TGK. L = length + T. "
        "scores_HTL[h, t, l] = scale * q[t, h] . k[l, h // (H // G)], and -inf where "
        "l > length + t. probs_HTL = softmax over l. out[t, h] = sum over l of probs * v[l].",
        "end = length + k_TGK.shape[0]\n"
        "k_strip[length:end], v_strip[length:end] = k_TGK, v_TGK\n"
        "share = q_THK.shape[1] // k_TGK.shape[1]\n"
        "k_LHK = k_strip[:end].repeat_interleave(share, dim=1)\n"
        "v_LHK = v_strip[:end].repeat_interleave(share, dim=1)\n"
        "scores_HTL = torch.einsum('thk,lhk->htl', q_THK, k_LHK) * scale\n"
        "hidden_TL = torch.arange(end) > ____\n"
        "probs_HTL = scores_HTL.masked_fill(hidden_TL, float('-inf')).softmax(-1)\n"
        "return torch.einsum('htl,lhk->thk', probs_HTL, v_LHK)",
    ),
)  # fmt: skip
NAN = (
    "An empty row took part? A weight of 0 does not help: 0 * NaN is NaN. Cut the rows off. "
    "(Or a query saw no key at all: softmax of nothing but -inf is NaN, too.)"
)


def make(rng, H, G, K, steps, spare):
    new = [(normal(rng, T, H, K), normal(rng, T, G, K), normal(rng, T, G, K)) for T in steps]
    if H % G:
        raise ValueError(f"{H} query heads cannot share {G} KV heads evenly")
    scale = rng.uniform(0.5, 0.9) * K**-0.5  # some models have another one than 1 / sqrt(K)
    return {"max_len": sum(steps) + spare, "q_k_v_of_each_call": new, "scale": scale}


def drive(answer, case):
    _, G, K = case["q_k_v_of_each_call"][0][1].shape
    k_strip = torch.full((case["max_len"], G, K), torch.nan)
    v_strip, length, found = k_strip.clone(), 0, {}
    for q_THK, k_TGK, v_TGK in case["q_k_v_of_each_call"]:
        out_THK = answer(k_strip, v_strip, length, q_THK, k_TGK, v_TGK, case["scale"])
        found[f"{len(q_THK)} new after {length}"] = out_THK
        length += len(q_THK)
    return found | {"k_strip": k_strip, "v_strip": v_strip}


def judge(case, output):
    """As usual; NaN gets a word about where it may come from."""
    try:
        compare(output, drive(spec.reference("4.2"), case), TOLERANCES["fp32"])
    except Wrong as wrong:
        if wrong.id == "nan":
            wrong.message += f". {NAN}"
        raise
