"""Check of 2.8: every kind in its old and new spelling, near and far positions."""

import torch

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="2.8", title="A hunt: right at the start, wrong far away", kind="hunt", entry="angles",
    minutes=20, difficulty=3, tolerance="fp64",
    sizes=(
        {"kind": "default", "K": 4},
        {"kind": "linear", "K": 6},
        {"kind": "linear", "K": 6, "old": "type"},
        {"kind": "llama3", "K": 16},
        {"kind": "llama3", "K": 26, "old": "rope_type"},
    ),
    hints=(
        "Take {'rope_type': 'linear', 'factor': 4.0}: at position 8 pair 0 must turn by 8 / 4 = 2. "
        "By how much does it turn here? Then ask the same with 'type' in place of 'rope_type', and "
        "follow every setting of llama3 to the line that uses it.",
        "angle[t, i] = pos[t] * stretched freq[i]. linear: freq / factor. llama3: turns = length * "
        "freq / (2 pi), where length is the ORIGINAL context of the training, before stretching.",
        "freq_k = ____(freq_k, kind, rope, config)\n"
        'kind = rope.get("rope_type", rope.get("type", "default"))\n'
        'length = rope["original_max_position_embeddings"]',
    ),
)  # fmt: skip


def make(rng, kind, K, old=None):
    if K % 2:
        raise ValueError("RoPE turns pairs: K must be even")
    theta, long = float(rng.randrange(5_000, 500_000)), rng.choice((8192, 16384))
    rope = {old or "rope_type": kind}
    config = {"max_position_embeddings": long, "head_dim": K}
    if kind != "default":
        rope["factor"] = float(rng.choice((2, 4, 8)))
    if kind == "llama3":
        original = int(long // rope["factor"])
        rope |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
        rope["original_max_position_embeddings"] = original
    if old:
        config |= {"rope_scaling": rope, "rope_theta": theta}
    else:
        config["rope_parameters"] = rope | {"rope_theta": theta}
    pos_T = torch.tensor([0, 1, rng.randrange(2, 100), rng.randrange(1000, long), long - 1])
    return {"config": config, "head_size": K, "pos_T": pos_T}
