"""Between a Hugging Face config.json and ModelConfig; what we cannot compute is refused by name."""

from __future__ import annotations

import math

from minillm.config import ConfigError, ModelConfig, RopeConfig

# Fields that do not change the logits (training, bookkeeping, defaults of generation).
IGNORED = {
    "architectures", "attention_dropout", "bos_token_id", "bad_words_ids", "begin_suppress_tokens",
    "cache_implementation", "chunk_size_feed_forward", "decoder_start_token_id",
    "diversity_penalty", "do_sample", "dtype", "early_stopping",
    "encoder_no_repeat_ngram_size", "eos_token_id",
    "exponential_decay_length_penalty", "finetuning_task", "forced_bos_token_id",
    "forced_eos_token_id", "hidden_dropout", "id2label", "initializer_range", "is_decoder",
    "is_encoder_decoder", "is_llama_config", "label2id", "length_penalty", "max_length",
    "min_length", "model_type", "no_repeat_ngram_size", "num_beam_groups", "num_beams",
    "num_return_sequences", "output_attentions", "output_hidden_states", "output_scores",
    "pad_token_id", "prefix", "problem_type", "remove_invalid_values", "repetition_penalty",
    "residual_dropout", "return_dict", "return_dict_in_generate", "sep_token_id",
    "suppress_tokens", "task_specific_params", "temperature", "tf_legacy_loss",
    "tie_encoder_decoder", "tokenizer_class", "top_k", "top_p", "torch_dtype", "torchscript",
    "transformers.js_config", "transformers_version", "typical_p", "unsloth_fixed",
    "unsloth_version", "use_bfloat16", "use_cache", "pruned_heads",
    "cross_attention_hidden_size", "add_cross_attention", "embd_pdrop", "resid_pdrop",
    "mlp_dropout", "max_window_layers", "auto_map", "minillm",
}  # fmt: skip
# Fields that do change the logits, with the only values this engine computes.
ONLY = {
    "pretraining_tp": (1, None),
    "partial_rotary_factor": (1, 1.0, None),
    "rope_interleaved": (False, None),
    "attn_logit_softcapping": (None,),
    "final_logit_softcapping": (None,),
    "use_bidirectional_attention": (False, None),
}
READ = {
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "max_position_embeddings", "rms_norm_eps", "hidden_act",
    "hidden_activation", "tie_word_embeddings", "attention_bias", "mlp_bias", "rope_theta",
    "rope_scaling", "rope_parameters", "rope_local_base_freq", "sliding_window", "layer_types",
    "use_sliding_window", "sliding_window_pattern", "_sliding_window_pattern",
    "query_pre_attn_scalar", "quantization_config",
}  # fmt: skip
FAMILIES = {
    "llama": "llama", "mistral": "mistral", "qwen2": "qwen2", "qwen3": "qwen3",
    "gemma3_text": "gemma3",
}  # fmt: skip
ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu"}
ROPE_FIELDS = {
    "default": set(),
    "linear": {"factor"},
    "llama3": {"factor", "original_max_position_embeddings", "low_freq_factor", "high_freq_factor"},
    "yarn": {"factor", "original_max_position_embeddings", "beta_fast", "beta_slow",
             "attention_factor", "mscale", "mscale_all_dim", "truncate"},
}  # fmt: skip


def from_hf(data: dict) -> ModelConfig:
    """Read a config.json (old and new field names). Raises ConfigError naming the field."""
    if not isinstance(data, dict):
        raise ConfigError(f"config.json must hold an object, got {type(data).__name__}")
    family = FAMILIES.get(_get(data, "model_type", str))
    if family is None:
        raise ConfigError(
            f"model_type {data.get('model_type')!r} is not one of {', '.join(FAMILIES)}"
        )
    _refuse_unknown(data)
    gemma = family == "gemma3"
    heads = _get(data, "num_attention_heads", int)
    width = _get(data, "hidden_size", int)
    kv_default = 4 if gemma else heads
    head_default = {"qwen3": 128, "gemma3": 256}.get(family) or _divide(width, heads)
    layers = _get(data, "num_hidden_layers", int)
    windows = _windows(data, family, layers)
    ropes, rope_of_layer = _ropes(data, family, windows)
    bias = bool(data.get("attention_bias") or False)
    head_size = _get(data, "head_dim", int, head_default)
    act_field = "hidden_activation" if gemma and data.get("hidden_activation") else "hidden_act"
    act = _get(data, act_field, str, "gelu_pytorch_tanh" if gemma else "silu")
    if act not in ACTIVATIONS:
        raise ConfigError(f"{act_field} {act!r} is not one of {', '.join(ACTIVATIONS)}")
    scalar = _get(data, "query_pre_attn_scalar", (int, float), 256) if gemma else head_size
    if not 0 < scalar < math.inf:
        raise ConfigError(f"query_pre_attn_scalar must be above 0, got {scalar}")
    return ModelConfig(
        family=family,
        vocab_size=_get(data, "vocab_size", int),
        width=width,
        mlp_width=_get(data, "intermediate_size", int),
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=_get(data, "num_key_value_heads", int, kv_default),
        head_size=head_size,
        max_len=_get(data, "max_position_embeddings", int),
        ropes=ropes,
        rope_of_layer=rope_of_layer,
        windows=windows,
        norm_eps=float(_get(data, "rms_norm_eps", (int, float), 1e-6)),
        tie_embeddings=bool(_get(data, "tie_word_embeddings", bool, gemma)),
        qkv_bias=bias or family == "qwen2",
        output_bias=bias and family != "qwen2",
        mlp_bias=bool(data.get("mlp_bias") or False),
        qk_norm=family in ("qwen3", "gemma3"),
        norm_plus_one=gemma,
        post_norms=gemma,
        embedding_scale=width**0.5 if gemma else 1.0,
        attention_scale=scalar**-0.5,
        activation=ACTIVATIONS[act],
        bos_token_id=_get(data, "bos_token_id", int, None),
        eos_token_ids=token_ids(data.get("eos_token_id")),
    )


def to_hf(config: ModelConfig) -> dict:
    """The config.json that transformers reads for this model; the inverse of `from_hf`."""
    layer_types = ["full_attention" if w is None else "sliding_attention" for w in config.windows]
    window = next((w for w in config.windows if w is not None), None)
    kinds = {v: k for k, v in FAMILIES.items()}
    names = {v: k for k, v in reversed(ACTIVATIONS.items())}
    architecture = {"gemma3": "Gemma3ForCausalLM"}.get(
        config.family, config.family.capitalize() + "ForCausalLM"
    )
    ropes = [_rope_to_hf(r) for r in config.ropes]
    data = {
        "architectures": [architecture],
        "model_type": kinds[config.family],
        "vocab_size": config.vocab_size,
        "hidden_size": config.width,
        "intermediate_size": config.mlp_width,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads,
        "head_dim": config.head_size,
        "max_position_embeddings": config.max_len,
        "rms_norm_eps": config.norm_eps,
        "tie_word_embeddings": config.tie_embeddings,
        "hidden_act": names[config.activation],
        "bos_token_id": config.bos_token_id,
        "eos_token_id": list(config.eos_token_ids) or None,
        "rope_parameters": ropes[0],
    }
    if config.family == "gemma3":
        data["hidden_activation"] = data.pop("hidden_act")
        data["query_pre_attn_scalar"] = config.attention_scale**-2
        data["layer_types"], data["sliding_window"] = layer_types, window
        data["rope_parameters"] = {"full_attention": ropes[0], "sliding_attention": ropes[-1]}
    if config.family == "mistral":
        data["sliding_window"] = window
    if config.family in ("qwen2", "qwen3"):
        data["use_sliding_window"] = window is not None
        data["layer_types"], data["sliding_window"] = layer_types, window
    if config.family in ("llama", "qwen3"):
        data["attention_bias"] = config.qkv_bias
    if config.family == "llama":
        data["mlp_bias"] = config.mlp_bias
    return data


def token_ids(value) -> tuple[int, ...]:
    """eos_token_id may be absent, one id or a list of ids; every one counts."""
    ids = [] if value is None else value if isinstance(value, list) else [value]
    if any(type(i) is not int or i < 0 for i in ids):
        raise ConfigError(f"eos_token_id must be an id or a list of ids, got {value!r}")
    return tuple(dict.fromkeys(ids))


def _refuse_unknown(data: dict) -> None:
    for name, value in data.items():
        if name in ONLY and value not in ONLY[name]:
            raise ConfigError(f"{name}={value!r} is not implemented (only {ONLY[name][0]!r})")
        known = name in READ or name in IGNORED or name in ONLY or name.startswith("_name")
        if not known and value not in (None, False, [], {}):
            raise ConfigError(
                f"config.json has {name}={str(value)[:60]!r}, which this engine does not know. "
                "If it does not change the logits, add it to IGNORED in minillm/hf_config.py"
            )


def _get(data: dict, name: str, kind, default=...):
    value = data.get(name)
    if value is None:
        if default is ...:
            raise ConfigError(f"config.json lacks {name}")
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{name} has the wrong type: {str(value)[:60]!r}")
    return value


def _divide(width: int, heads: int) -> int:
    if heads < 1 or width % heads:
        raise ConfigError(f"hidden_size {width} is no multiple of num_attention_heads {heads}; "
                          "give head_dim")  # fmt: skip
    return width // heads


def _windows(data: dict, family: str, layers: int) -> tuple[int | None, ...]:
    if not 1 <= layers <= 512:
        raise ConfigError(f"num_hidden_layers must be from 1 to 512, got {layers}")
    window = _get(data, "sliding_window", int, 4096 if family == "gemma3" else None)
    if window is not None and window < 1:
        raise ConfigError(f"sliding_window must be at least 1, got {window}")
    types = _get(data, "layer_types", list, None)
    if types is not None and (
        len(types) != layers or not set(map(str, types)) <= {"full_attention", "sliding_attention"}
    ):
        raise ConfigError("layer_types must name full_attention or sliding_attention, one a layer")
    if family == "llama":
        if window is not None or (types and "sliding_attention" in types):
            raise ConfigError("sliding_window is not implemented for llama; use mistral")
        return (None,) * layers
    if family == "mistral":
        return (window,) * layers
    if family == "gemma3":
        pattern = data.get("sliding_window_pattern", data.get("_sliding_window_pattern", 6))
        if type(pattern) is not int or pattern < 1:
            raise ConfigError(f"sliding_window_pattern must be at least 1, got {pattern!r}")
        full = [t == "full_attention" for t in types] if types else [
            (i + 1) % pattern == 0 for i in range(layers)
        ]  # fmt: skip
        return tuple(None if f else window for f in full)
    if not data.get("use_sliding_window") or window is None:
        return (None,) * layers
    first = _get(data, "max_window_layers", int, 28)
    return tuple(
        window if (types[i] == "sliding_attention" if types else i >= first) else None
        for i in range(layers)
    )


def _ropes(data: dict, family: str, windows) -> tuple[tuple[RopeConfig, ...], tuple[int, ...]]:
    length = _get(data, "max_position_embeddings", int)
    theta = _get(data, "rope_theta", (int, float), 1e6 if family == "gemma3" else 1e4)
    params = data.get("rope_parameters") or data.get("rope_scaling") or {}
    if not isinstance(params, dict):
        raise ConfigError("rope_parameters must be an object")
    if family != "gemma3":
        return (_rope(params, theta, length),), (0,) * len(windows)
    local_theta = _get(data, "rope_local_base_freq", (int, float), 1e4)
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
    if kind not in ROPE_FIELDS:
        raise ConfigError(f"RoPE scaling {kind!r} is not one of {', '.join(ROPE_FIELDS)}")
    known = ROPE_FIELDS[kind] | {"rope_type", "type", "rope_theta"}
    for name, value in params.items():
        if name == "partial_rotary_factor" and value in (None, 1, 1.0):
            continue
        if name not in known and not (kind == "default" and name == "factor" and value == 1.0):
            raise ConfigError(f"RoPE field {name}={value!r} is not implemented for {kind!r}")
    number = {n: _number(params, n) for n in params if n not in ("rope_type", "type", "truncate")}
    get = lambda name, default: number[name] if number.get(name) is not None else default
    factor = get("factor", 1.0)
    if kind != "default" and factor < 1:
        raise ConfigError(f"RoPE scaling {kind!r} needs a factor of at least 1, got {factor}")
    attention = 1.0
    if kind == "yarn":
        mscales = get("mscale", 0.0), get("mscale_all_dim", 0.0)
        attention = get("attention_factor", _yarn_attention(factor, *mscales))
    low, high = get("low_freq_factor", 1.0), get("high_freq_factor", 4.0)
    if kind == "llama3" and not 0 < low < high:
        raise ConfigError(
            f"llama3 RoPE needs 0 < low_freq_factor < high_freq_factor: {low}, {high}"
        )
    base = get("rope_theta", float(theta))
    if not base > 1:
        raise ConfigError(f"rope_theta must be above 1, got {base}")
    return RopeConfig(
        theta=base, kind=kind, factor=factor,
        original_len=int(get("original_max_position_embeddings", max_len)),
        low_freq_factor=low, high_freq_factor=high,
        beta_fast=get("beta_fast", 32.0), beta_slow=get("beta_slow", 1.0),
        attention_factor=attention, truncate=bool(params.get("truncate", True)),
    )  # fmt: skip


def _number(params: dict, name: str) -> float | None:
    value = params[name]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ConfigError(f"RoPE field {name} must be a number, got {str(value)[:60]!r}")
    return float(value)


def _yarn_attention(factor: float, mscale: float, mscale_all: float) -> float:
    """Temperature of yarn (Peng et al. 2023, section 3.4): 0.1 ln(factor) + 1."""
    scale = lambda m: 1.0 if factor <= 1 else 0.1 * m * math.log(factor) + 1.0
    return scale(mscale) / scale(mscale_all) if mscale and mscale_all else scale(1.0)


def _rope_to_hf(rope: RopeConfig) -> dict:
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
