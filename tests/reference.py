"""A second, slow way to the same logits: NumPy in float64, one query and one head at a time.

Written from the papers and from config.json's meaning, not from minillm.model or minillm.ops:
pairs are rotated as complex numbers, RoPE scaling goes by wavelength, keys are looked at in a loop.
"""

from __future__ import annotations

import cmath
import math

import numpy as np


def logits(config, state: dict, tokens, positions=None) -> np.ndarray:
    """Logits after every token of ONE sequence -> float64 [T, V].

    state: our parameter names -> tensors. positions: default 0, 1, 2 ...; they turn queries and
    keys; who may look at whom goes by order in `tokens`.
    """
    weights = {name: np.asarray(t.double().numpy()) for name, t in state.items()}
    positions = list(range(len(tokens))) if positions is None else list(positions)
    stream = [weights["embedding.weight"][t] * config.embedding_scale for t in tokens]
    for layer in range(config.num_layers):
        stream = _block(config, weights, layer, stream, positions)
    head = weights["embedding.weight"] if config.tie_embeddings else weights["head.weight"]
    return np.stack([head @ _norm(config, weights["norm.weight"], x) for x in stream])


def _block(config, weights, layer, stream, positions):
    name = f"layers.{layer}."
    normed = [_norm(config, weights[name + "attention_norm.weight"], x) for x in stream]
    added = _attention(config, weights, layer, normed, positions)
    if config.post_norms:
        added = [_norm(config, weights[name + "attention_post_norm.weight"], x) for x in added]
    stream = [x + a for x, a in zip(stream, added)]
    result = []
    for x in stream:
        inner = _norm(config, weights[name + "mlp_norm.weight"], x)
        gate, up = np.split(_linear(weights, name + "mlp.gate_up", inner), 2)
        inner = np.array([_activation(config.activation, g) for g in gate]) * up
        inner = _linear(weights, name + "mlp.down", inner)
        if config.post_norms:
            inner = _norm(config, weights[name + "mlp_post_norm.weight"], inner)
        result.append(x + inner)
    return result


def _attention(config, weights, layer, normed, positions):
    name, window = f"layers.{layer}.attention.", config.windows[layer]
    rope = config.ropes[config.rope_of_layer[layer]]
    speeds = frequencies(rope, config.head_size)
    queries, keys, values = [], [], []
    for x, position in zip(normed, positions):
        heads = _heads(config, _linear(weights, name + "qkv", x))
        k_at, v_at = config.num_heads, config.num_heads + config.num_kv_heads
        q, k, v = heads[:k_at], heads[k_at:v_at], heads[v_at:]
        if config.qk_norm:
            q = [_norm(config, weights[name + "q_norm.weight"], head) for head in q]
            k = [_norm(config, weights[name + "k_norm.weight"], head) for head in k]
        queries.append([_turn(head, position, speeds, rope.attention_factor) for head in q])
        keys.append([_turn(head, position, speeds, rope.attention_factor) for head in k])
        values.append(v)
    group = config.num_heads // config.num_kv_heads
    result = []
    for t in range(len(normed)):
        first = 0 if window is None else max(0, t - window + 1)
        heads = []
        for h in range(config.num_heads):
            scores = [
                config.attention_scale * float(queries[t][h] @ keys[s][h // group])
                for s in range(first, t + 1)
            ]
            exps = [math.exp(s - max(scores)) for s in scores]
            shares = zip(exps, range(first, t + 1))
            heads.append(sum(e / sum(exps) * values[s][h // group] for e, s in shares))
        result.append(_linear(weights, name + "o", np.concatenate(heads)))
    return result


def frequencies(rope, head_size: int) -> list[float]:
    """Angle a step of every pair, by the rules of each scaling's paper."""
    plain = [rope.theta ** (-2 * i / head_size) for i in range(head_size // 2)]
    if rope.kind == "default":
        return plain
    if rope.kind == "linear":
        return [f / rope.factor for f in plain]
    if rope.kind == "llama3":
        return [_llama3(rope, f) for f in plain]
    assert rope.kind == "yarn"
    borders = [
        head_size / 2 * math.log(rope.original_len / (2 * math.pi * turns)) / math.log(rope.theta)
        for turns in (rope.beta_fast, rope.beta_slow)
    ]
    if rope.truncate:
        borders = [math.floor(borders[0]), math.ceil(borders[1])]
    low, high = max(borders[0], 0), min(borders[1], head_size - 1)
    result = []
    for i, f in enumerate(plain):
        stretched = min(1.0, max(0.0, (i - low) / (high - low if high != low else 0.001)))
        result.append((1 - stretched) * f + stretched * f / rope.factor)
    return result


def _llama3(rope, frequency: float) -> float:
    wavelength = 2 * math.pi / frequency
    if wavelength < rope.original_len / rope.high_freq_factor:
        return frequency
    if wavelength > rope.original_len / rope.low_freq_factor:
        return frequency / rope.factor
    smooth = rope.original_len / wavelength - rope.low_freq_factor
    smooth /= rope.high_freq_factor - rope.low_freq_factor
    return (1 - smooth) * frequency / rope.factor + smooth * frequency


def _turn(x, position: int, speeds, length: float):
    half = len(speeds)
    pairs = [complex(x[i], x[i + half]) for i in range(half)]
    pairs = [z * length * cmath.exp(1j * position * f) for z, f in zip(pairs, speeds)]
    return np.array([z.real for z in pairs] + [z.imag for z in pairs])


def _heads(config, x):
    return [x[i : i + config.head_size] for i in range(0, len(x), config.head_size)]


def _linear(weights, name: str, x):
    y = weights[name + ".weight"] @ x
    return y + weights[name + ".bias"] if name + ".bias" in weights else y


def _norm(config, weight, x):
    gain = weight + 1.0 if config.norm_plus_one else weight
    return x / math.sqrt(float(x @ x) / len(x) + config.norm_eps) * gain


def _activation(kind: str, x: float) -> float:
    if kind == "silu":
        return x / (1 + math.exp(-x)) if x > -700 else 0.0
    if kind == "gelu":
        return x * 0.5 * (1 + math.erf(x / math.sqrt(2)))
    assert kind == "gelu_tanh"
    return x * 0.5 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
