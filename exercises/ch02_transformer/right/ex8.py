"""Other right answers of 2.8."""

import math

import torch


def pair_by_pair(config, head_size, pos_T):
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = rope.get("rope_theta") or config.get("rope_theta") or 10000.0
    kind = rope.get("rope_type") or rope.get("type") or "default"
    columns = []
    for i in range(head_size // 2):
        freq, keep = theta ** (-2 * i / head_size), 1.0
        if kind == "linear":
            keep = 0.0
        elif kind == "llama3":
            turns = rope["original_max_position_embeddings"] * freq / (2 * math.pi)
            low, high = rope["low_freq_factor"], rope["high_freq_factor"]
            keep = min(max((turns - low) / (high - low), 0.0), 1.0)
        freq = freq * (keep + (1 - keep) / rope.get("factor", 1.0))
        columns.append(pos_T.double() * freq)
    return torch.stack(columns, dim=1)


def by_wavelength(config, head_size, pos_T):
    rope = {**config.get("rope_scaling", {}), **config.get("rope_parameters", {})}
    theta = rope.get("rope_theta", config.get("rope_theta", 10000.0))
    kind = rope.get("rope_type", rope.get("type", "default"))
    wave_k = 2 * math.pi * theta ** (torch.arange(0, head_size, 2).double() / head_size)
    longer_k = wave_k * rope.get("factor", 1.0)
    if kind == "llama3":
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        turns_k = rope["original_max_position_embeddings"] / wave_k
        keep_k = ((turns_k - low) / (high - low)).clamp(0, 1)
        longer_k = 1 / (keep_k / wave_k + (1 - keep_k) / longer_k)
    return pos_T[:, None] * (2 * math.pi / longer_k)
