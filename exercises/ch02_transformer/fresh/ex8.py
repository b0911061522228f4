"""Exercise 2.8, a hunt: right at the start, wrong far away.

Models made for long texts stretch their RoPE: slow pairs turn even more slowly. The settings stand
in config.json. New files call them `rope_parameters`, older ones `rope_scaling`; the kind of
stretching is called `rope_type`, or `type` in the oldest.

The report: "Models without stretching are right. Some models with it write well at first, and the
further they go, the worse it gets. At position 0 everything is equal."

Find the fault and mend it. The arithmetic of `linear` and `llama3` is right.
"""

import math

import torch
from torch import Tensor


def base_frequencies(theta: float, head_size: int) -> Tensor:
    """Angle a step of each pair -> float64 [K/2]."""
    return theta ** (-torch.arange(0, head_size, 2, dtype=torch.float64) / head_size)


def stretched(freq_k: Tensor, kind: str, rope: dict, config: dict) -> Tensor:
    """The frequencies after stretching -> float64 [K/2]."""
    if kind == "linear":
        return freq_k / rope["factor"]
    assert kind == "llama3", f"unknown kind of RoPE: {kind}"
    length = rope["original_max_position_embeddings"]
    turns_k = length * freq_k / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    keep_k = ((turns_k - low) / (high - low)).clamp(0, 1)
    return freq_k * keep_k + freq_k / rope["factor"] * (1 - keep_k)


def angles(config: dict, head_size: int, pos_T: Tensor) -> Tensor:
    """config: a config.json. pos_T: int64 [T]. Returns float64 [T, K/2], an angle a pair."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = rope.get("rope_theta", config.get("rope_theta", 10000.0))
    kind = rope.get("rope_type", "default")
    freq_k = base_frequencies(theta, head_size)
    if kind != "default":
        freq_k = stretched(freq_k, kind, rope, config)
    return pos_T[:, None] * freq_k
