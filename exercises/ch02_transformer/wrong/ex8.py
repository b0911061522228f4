"""False mends of 2.8."""

import math

import torch


def _read(config):
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = rope.get("rope_theta", config.get("rope_theta", 10000.0))
    return rope, theta, rope.get("rope_type", rope.get("type", "default"))


def _base(theta, head_size):
    return theta ** (-torch.arange(0, head_size, 2, dtype=torch.float64) / head_size)


def _llama3(freq_k, rope, swapped=False):
    turns = rope["original_max_position_embeddings"] * freq_k / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    keep = ((turns - low) / (high - low)).clamp(0, 1)
    keep = 1 - keep if swapped else keep
    return freq_k * keep + freq_k / rope["factor"] * (1 - keep)


def only_linear(config, head_size, pos_T):
    """stretching applied for linear only, llama3 left as it was"""
    rope, theta, kind = _read(config)
    freq_k = _base(theta, head_size)
    return pos_T[:, None] * (freq_k / rope["factor"] if kind == "linear" else freq_k)


def only_llama3(config, head_size, pos_T):
    """stretching applied for llama3 only, linear left as it was"""
    rope, theta, kind = _read(config)
    freq_k = _base(theta, head_size)
    return pos_T[:, None] * (_llama3(freq_k, rope) if kind == "llama3" else freq_k)


def all_pairs_alike(config, head_size, pos_T):
    """every pair divided by the factor, also for llama3, which keeps its fast pairs"""
    rope, theta, _ = _read(config)
    return pos_T[:, None] * (_base(theta, head_size) / rope.get("factor", 1.0))


def theta_stretched(config, head_size, pos_T):
    """theta multiplied by the factor instead of stretching the frequencies"""
    rope, theta, _ = _read(config)
    return pos_T[:, None] * _base(theta * rope.get("factor", 1.0), head_size)


def faster_instead_of_slower(config, head_size, pos_T):
    """frequencies multiplied by the factor instead of divided"""
    rope, theta, _ = _read(config)
    return pos_T[:, None] * (_base(theta, head_size) * rope.get("factor", 1.0))


def stretched_twice(config, head_size, pos_T):
    """the stretching applied twice"""
    rope, theta, kind = _read(config)
    freq_k = _base(theta, head_size)
    for _ in range(2 if kind != "default" else 0):
        freq_k = freq_k / rope["factor"] if kind == "linear" else _llama3(freq_k, rope)
    return pos_T[:, None] * freq_k


def ramp_the_wrong_way(config, head_size, pos_T):
    """llama3 with fast pairs stretched and slow pairs kept"""
    rope, theta, kind = _read(config)
    freq_k = _base(theta, head_size)
    if kind != "default":
        linear = kind == "linear"
        freq_k = freq_k / rope["factor"] if linear else _llama3(freq_k, rope, swapped=True)
    return pos_T[:, None] * freq_k
