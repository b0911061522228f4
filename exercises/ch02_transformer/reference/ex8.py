"""Reference of 2.8."""

import math

import torch


def stretched(freq_k, kind, rope):
    if kind == "linear":
        return freq_k / rope["factor"]
    turns_k = rope["original_max_position_embeddings"] * freq_k / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    keep_k = ((turns_k - low) / (high - low)).clamp(0, 1)
    return freq_k * keep_k + freq_k / rope["factor"] * (1 - keep_k)


def angles(config, head_size, pos_T):
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = rope.get("rope_theta", config.get("rope_theta", 10000.0))
    kind = rope.get("rope_type", rope.get("type", "default"))
    freq_k = theta ** (-torch.arange(0, head_size, 2, dtype=torch.float64) / head_size)
    if kind != "default":
        freq_k = stretched(freq_k, kind, rope)
    return pos_T[:, None] * freq_k
