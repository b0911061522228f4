"""RoPE settings of a config.json, in their old and new spelling, to RopeConfig and back."""

from __future__ import annotations

import math

from minillm.config import LIMITS, ConfigError, RopeConfig
from minillm.hf_fields import get, real, size

ROPE_FIELDS = {
    "default": set(),
    "linear": {"factor"},
    "llama3": {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"},
    "yarn": {"factor", "original_max_position_embeddings", "beta_fast", "beta_slow",
             "attention_factor", "mscale", "mscale_all_dim", "truncate"},
}  # fmt: skip
ROPE_NEEDS = {
    "linear": {"factor"}, "yarn": {"factor"},
    "llama3": {"factor", "low_freq_factor", "high_freq_factor"},
}  # fmt: skip
THETAS = (1.0, 1e30)


def read_ropes(data: dict, family: str, windows) -> tuple[tuple[RopeConfig, ...], tuple[int, ...]]:
    """All RopeConfigs of a config.json, and which of them each layer uses."""
    length = size(data, "max_position_embeddings", "max_len")
    theta = real(data, "rope_theta", 1e6 if family == "gemma3" else 1e4, *THETAS)
    new, old = get(data, "rope_parameters", dict, {}), get(data, "rope_scaling", dict, {})
    if new and old and new != old:
        raise ConfigError("rope_parameters and rope_scaling differ: keep the one that is right")
    params = new or old
    if family != "gemma3":
        return (_rope(params, theta, length),), (0,) * len(windows)
    local_theta = real(data, "rope_local_base_freq", 1e4, *THETAS)
    if {"full_attention", "sliding_attention"} & set(params):
        pair = (params.get("full_attention") or {}, params.get("sliding_attention") or {})
    else:
        pair = (params, {})  # the old form: scaling concerns the global layers only
    ropes = (_rope(pair[0], theta, length), _rope(pair[1], local_theta, length))
    return ropes, tuple(0 if w is None else 1 for w in windows)


def _rope(params: dict, theta: float, max_len: int) -> RopeConfig:
    if not isinstance(params, dict):
        raise ConfigError("rope_parameters must be an object")
    kind = params.get("rope_type", params.get("type")) or "default"
    if not isinstance(kind, str) or kind not in ROPE_FIELDS:
        raise ConfigError(f"RoPE scaling {kind!r} is not one of {', '.join(ROPE_FIELDS)}")
    if lacking := [n for n in sorted(ROPE_NEEDS.get(kind, ())) if params.get(n) is None]:
        raise ConfigError(f"RoPE scaling {kind!r} lacks {', '.join(lacking)}")
    known = ROPE_FIELDS[kind] | {"rope_type", "type", "rope_theta"}
    for name, value in params.items():
        if name == "partial_rotary_factor" and value in (None, 1, 1.0):
            continue
        harmless = value is None or (kind == "default" and name == "factor" and value == 1.0)
        if name not in known and not harmless:
            raise ConfigError(
                f"RoPE field {name}={str(value)[:60]} is not implemented for {kind!r}"
            )
    number = {n: _number(params, n) for n in params if n not in ("rope_type", "type", "truncate")}
    value_of = lambda name, default: number[name] if number.get(name) is not None else default
    factor = value_of("factor", 1.0)
    if kind != "default" and factor < 1:
        raise ConfigError(f"RoPE scaling {kind!r} needs a factor of at least 1, got {factor}")
    attention = 1.0
    if kind == "yarn":
        mscales = value_of("mscale", 0.0), value_of("mscale_all_dim", 0.0)
        attention = value_of("attention_factor", _yarn_attention(factor, *mscales))
    low, high = value_of("low_freq_factor", 1.0), value_of("high_freq_factor", 4.0)
    if kind == "llama3" and not 0 < low < high:
        raise ConfigError(
            f"llama3 RoPE needs 0 < low_freq_factor < high_freq_factor: {low}, {high}"
        )
    base = value_of("rope_theta", theta)
    if not base > 1:
        raise ConfigError(f"rope_theta must be above 1, got {base}")
    length = value_of("original_max_position_embeddings", max_len)
    if not 1 <= length <= LIMITS["max_len"]:
        raise ConfigError(f"original_max_position_embeddings is out of range: {length}")
    truncate = params.get("truncate", True) or False  # null is false, as in transformers
    if not isinstance(truncate, bool):
        raise ConfigError(f"RoPE field truncate must be true or false, got {str(truncate)[:60]!r}")
    return RopeConfig(
        theta=base, kind=kind, factor=factor,
        original_len=int(length),
        low_freq_factor=low, high_freq_factor=high,
        beta_fast=value_of("beta_fast", 32.0), beta_slow=value_of("beta_slow", 1.0),
        attention_factor=attention, truncate=truncate,
    )  # fmt: skip


def _number(params: dict, name: str) -> float | None:
    value = params[name]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1e30:
        raise ConfigError(f"RoPE field {name} must be a number from 0, got {str(value)[:60]!r}")
    if value == 0 and name in ("beta_fast", "beta_slow", "attention_factor"):
        raise ConfigError(f"RoPE field {name} must be above 0")
    return float(value)


def _yarn_attention(factor: float, mscale: float, mscale_all: float) -> float:
    """Temperature of yarn (Peng et al. 2023, section 3.4): 0.1 ln(factor) + 1."""
    scale = lambda m: 1.0 if factor <= 1 else 0.1 * m * math.log(factor) + 1.0
    return scale(mscale) / scale(mscale_all) if mscale and mscale_all else scale(1.0)


def rope_to_hf(rope: RopeConfig) -> dict:
    """One entry of rope_parameters; the inverse of what `read_ropes` reads."""
    data = {"rope_type": rope.kind, "rope_theta": rope.theta}
    if rope.kind != "default":
        data["factor"] = rope.factor
    if rope.kind in ("llama3", "yarn"):
        data["original_max_position_embeddings"] = rope.original_len
    if rope.kind == "llama3":
        data.update(low_freq_factor=rope.low_freq_factor, high_freq_factor=rope.high_freq_factor)
    if rope.kind == "yarn":
        data.update(beta_fast=rope.beta_fast, beta_slow=rope.beta_slow,
                    attention_factor=rope.attention_factor, truncate=rope.truncate)  # fmt: skip
    return data
