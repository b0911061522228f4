"""Between a Hugging Face config.json and ModelConfig; what we cannot compute is refused by name."""

from __future__ import annotations

from minillm.config import ConfigError, ModelConfig
from minillm.hf_fields import get, real, size
from minillm.hf_rope import read_ropes, rope_to_hf

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
# What transformers takes where a file says nothing (null means one kv head a query head).
KV_HEADS = {"mistral": 8, "qwen2": 32, "qwen3": 32, "gemma3": 4}


def from_hf(data: dict) -> ModelConfig:
    """Read a config.json (old and new field names). Raises ConfigError naming the field."""
    if not isinstance(data, dict):
        raise ConfigError(f"config.json must hold an object, got {type(data).__name__}")
    family = FAMILIES.get(get(data, "model_type", str))
    if family is None:
        raise ConfigError(
            f"model_type {data.get('model_type')!r} is not one of {', '.join(FAMILIES)}"
        )
    _refuse_unknown(data)
    gemma = family == "gemma3"
    heads = size(data, "num_attention_heads", "num_heads")
    width = size(data, "hidden_size", "width")
    kv_default = heads if "num_key_value_heads" in data else KV_HEADS.get(family, heads)
    head_default = {"qwen3": 128, "gemma3": 256}.get(family)
    if head_default is None and data.get("head_dim") is None:
        head_default = _divide(width, heads)
    layers = size(data, "num_hidden_layers", "num_layers")
    windows = _windows(data, family, layers)
    ropes, rope_of_layer = read_ropes(data, family, windows)
    bias, mlp_bias = get(data, "attention_bias", bool, False), get(data, "mlp_bias", bool, False)
    if (bias and family == "mistral") or (mlp_bias and family != "llama"):
        raise ConfigError(f"{family} has no {'attention_bias' if bias else 'mlp_bias'}")
    head_size = size(data, "head_dim", "head_size", head_default)
    act_field = "hidden_activation" if gemma and data.get("hidden_activation") else "hidden_act"
    act = get(data, act_field, str, "gelu_pytorch_tanh" if gemma else "silu")
    if act not in ACTIVATIONS:
        raise ConfigError(f"{act_field} {act!r} is not one of {', '.join(ACTIVATIONS)}")
    scalar = real(data, "query_pre_attn_scalar", 256.0, 1e-6, 1e6) if gemma else float(head_size)
    return ModelConfig(
        family=family,
        vocab_size=size(data, "vocab_size", "vocab_size"),
        width=width,
        mlp_width=size(data, "intermediate_size", "mlp_width"),
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=size(data, "num_key_value_heads", "num_kv_heads", kv_default),
        head_size=head_size,
        max_len=size(data, "max_position_embeddings", "max_len"),
        ropes=ropes,
        rope_of_layer=rope_of_layer,
        windows=windows,
        norm_eps=real(data, "rms_norm_eps", 1e-6, 0.0, 1.0),
        tie_embeddings=get(data, "tie_word_embeddings", bool, gemma),
        qkv_bias=bias or family == "qwen2",
        output_bias=bias and family != "qwen2",
        mlp_bias=mlp_bias,
        qk_norm=family in ("qwen3", "gemma3"),
        norm_plus_one=gemma,
        post_norms=gemma,
        embedding_scale=width**0.5 if gemma else 1.0,
        attention_scale=scalar**-0.5,
        activation=ACTIVATIONS[act],
        bos_token_id=get(data, "bos_token_id", int, None),
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
    kind = kinds[config.family]
    if config.family == "llama" and config.width % config.num_heads and not _biased(config):
        # transformers' Llama wants heads that divide the width, which a shrunk model need not have;
        # Mistral without a window is the same arithmetic and does not.
        architecture, kind = "MistralForCausalLM", "mistral"
    ropes = [rope_to_hf(r) for r in config.ropes]
    data = {
        "architectures": [architecture],
        "model_type": kind,
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
        scalar = round(config.attention_scale**-2, 9)  # transformers insists on an int
        data["query_pre_attn_scalar"] = int(scalar) if scalar == int(scalar) else scalar
        # transformers asks for a window also where no layer has one
        data["layer_types"], data["sliding_window"] = layer_types, window or config.max_len
        data["rope_parameters"] = {"full_attention": ropes[0], "sliding_attention": ropes[-1]}
    if kind == "mistral":
        data["sliding_window"] = window
    if config.family in ("qwen2", "qwen3"):
        data["use_sliding_window"] = window is not None
        data["layer_types"], data["sliding_window"] = layer_types, window
    if kind in ("llama", "qwen3", "gemma3_text"):
        data["attention_bias"] = config.qkv_bias
    if kind == "llama":
        data["mlp_bias"] = config.mlp_bias
    return data


def _biased(config: ModelConfig) -> bool:
    return config.qkv_bias or config.output_bias or config.mlp_bias


def why_not_transformers(config: ModelConfig) -> str | None:
    """Why transformers would refuse such a shape, or None: it checks what it never uses."""
    if config.width % config.num_heads == 0:
        return None
    if config.family == "gemma3" or config.family == "llama" and _biased(config):
        fits = [h for h in range(config.num_kv_heads, config.num_heads, config.num_kv_heads)
                if config.width % h == 0]  # fmt: skip
        return (
            f"transformers loads {config.family} only where the number of heads divides the width: "
            f"{config.num_heads} heads, width {config.width}; keep {fits or 'all'} of the heads"
        )
    return None


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
        if not known and value not in (None, False, "", [], {}):
            raise ConfigError(
                f"config.json has {name[:60]}={str(value)[:60]!r}, unknown to this engine. "
                "If it does not change the logits, add it to IGNORED in minillm/hf_config.py"
            )


def _divide(width: int, heads: int) -> int:
    if width % heads:
        raise ConfigError(f"hidden_size {width} is no multiple of num_attention_heads {heads}; "
                          "give head_dim")  # fmt: skip
    return width // heads


def _windows(data: dict, family: str, layers: int) -> tuple[int | None, ...]:
    default = None if family == "llama" or "sliding_window" in data else 4096
    window = get(data, "sliding_window", int, default)
    if window is not None and window < 1:
        raise ConfigError(f"sliding_window must be at least 1, got {window}")
    types = get(data, "layer_types", list, None)
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
        pattern = get(data, "_sliding_window_pattern", int, 6)
        pattern = get(data, "sliding_window_pattern", int, pattern)
        if pattern < 1:
            raise ConfigError(f"sliding_window_pattern must be at least 1, got {pattern!r}")
        full = [t == "full_attention" for t in types] if types else [
            (i + 1) % pattern == 0 for i in range(layers)
        ]  # fmt: skip
        if window is None and not all(full):
            raise ConfigError("sliding_window is null, but some layers are sliding_attention")
        return tuple(None if f else window for f in full)
    if not get(data, "use_sliding_window", bool, False) or window is None:
        if types and "sliding_attention" in types:
            raise ConfigError("use_sliding_window is off, but layer_types has sliding_attention")
        return (None,) * layers
    first = get(data, "max_window_layers", int, 28)
    return tuple(
        window if (types[i] == "sliding_attention" if types else i >= first) else None
        for i in range(layers)
    )
