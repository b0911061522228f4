"""Small, awkward models of every family, as config.json files, with random weights.

Norm weights and biases are random too: with ones and zeros half of all faults stay invisible.
"""

from __future__ import annotations

import copy

import torch

from minillm.hf_config import from_hf
from minillm.model import Transformer
from minillm.weights import hf_names, join

VOCAB = 111
COMMON = {
    "vocab_size": VOCAB, "hidden_size": 40, "intermediate_size": 56, "num_hidden_layers": 2,
    "num_attention_heads": 5, "num_key_value_heads": 1, "head_dim": 12,
    "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "tie_word_embeddings": False,
}  # fmt: skip


def heads(queries: int, kv: int, size: int, width: int) -> dict:
    return {"num_attention_heads": queries, "num_key_value_heads": kv, "head_dim": size,
            "hidden_size": width}  # fmt: skip


def _llama(**more):
    return COMMON | {"model_type": "llama", "hidden_act": "silu", "rope_theta": 100.0} | more


def _yarn(**more):  # original_len far below the prompt's length, the ramp inside the pairs
    rope = {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0, "beta_fast": 1.0,
            "beta_slow": 0.3, "original_max_position_embeddings": 16} | more  # fmt: skip
    return {"rope_parameters": rope}


def _mistral(**more):
    mistral = {"model_type": "mistral", "hidden_act": "silu", "sliding_window": 5}
    return COMMON | mistral | more


def _qwen2(**more):
    qwen2 = {"model_type": "qwen2", "hidden_act": "silu", "use_sliding_window": False}
    return COMMON | heads(7, 1, 6, 42) | qwen2 | more


def _qwen3(**more):
    qwen3 = {"model_type": "qwen3", "hidden_act": "silu", "use_sliding_window": False}
    return COMMON | heads(12, 2, 10, 48) | qwen3 | more


def _gemma3(**more):
    gemma = {
        "model_type": "gemma3_text", "hidden_activation": "gelu_pytorch_tanh",
        "num_hidden_layers": 3, "query_pre_attn_scalar": 20, "sliding_window": 6,
        "tie_word_embeddings": True,
    }  # fmt: skip
    return COMMON | heads(4, 1, 10, 36) | gemma | more


LLAMA3 = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}  # fmt: skip
SLIDING = {"use_sliding_window": True, "sliding_window": 4, "num_hidden_layers": 3}
GEMMA_NEW = {
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 3.0, "rope_theta": 5000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 70.0},
    },
}
GEMMA_OLD = {"rope_theta": 5000.0, "rope_local_base_freq": 70.0, "sliding_window_pattern": 2,
             "rope_scaling": {"rope_type": "linear", "factor": 3.0}}  # fmt: skip

CASES = {
    "llama 5:1": _llama(),
    "llama 7:1 tied": _llama(**heads(7, 1, 6, 28), tie_word_embeddings=True),
    "llama all biases": _llama(**heads(6, 3, 14, 36), attention_bias=True, mlp_bias=True),
    "llama every head its own": _llama(**heads(4, 4, 8, 36)),
    "llama 12/2": _llama(**heads(12, 2, 6, 48)),
    "llama 24/4": _llama(**heads(24, 4, 4, 48)),
    "llama no head_dim, no kv heads": {
        k: v for k, v in _llama().items() if k not in ("head_dim", "num_key_value_heads")
    },
    "llama gelu": _llama(hidden_act="gelu"),
    "llama gelu tanh": _llama(hidden_act="gelu_pytorch_tanh"),
    "llama linear, old names": _llama(rope_scaling={"type": "linear", "factor": 4.0}),
    "llama linear": _llama(
        rope_parameters={"rope_type": "linear", "rope_theta": 50.0, "factor": 2.5}
    ),
    "llama llama3, old names": _llama(rope_scaling={"rope_type": "llama3"} | LLAMA3),
    "llama llama3": _llama(
        rope_parameters={"rope_type": "llama3", "rope_theta": 40.0} | LLAMA3 | {"factor": 5.0}
    ),
    "llama yarn": _llama(**_yarn()),
    "llama yarn, plain borders": _llama(**_yarn(truncate=False)),
    "llama yarn, attention_factor": _llama(**_yarn(attention_factor=1.7)),
    "llama yarn, mscale": _llama(**_yarn(mscale=0.8, mscale_all_dim=0.3)),
    "llama yarn, old names": _llama(
        rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 20}
    ),
    "llama yarn, no original length": _llama(
        rope_scaling={"type": "yarn", "factor": 4.0}, max_position_embeddings=16
    ),
    "mistral window": _mistral(),
    "mistral window 1, tied": _mistral(sliding_window=1, tie_word_embeddings=True),
    "mistral no window": _mistral(sliding_window=None, **heads(12, 2, 6, 48)),
    "mistral window, yarn": _mistral(**_yarn(factor=2.0)),
    "qwen2": _qwen2(),
    "qwen2 tied, window off": _qwen2(tie_word_embeddings=True, sliding_window=4),
    "qwen2 window from layer 1": _qwen2(**SLIDING, max_window_layers=1),
    "qwen2 layer_types, yarn": _qwen2(
        **SLIDING, **_yarn(),
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    ),
    "qwen3": _qwen3(),
    "qwen3 24/4, biases, tied": _qwen3(
        **heads(24, 4, 6, 40), attention_bias=True, tie_word_embeddings=True
    ),
    "qwen3 window from layer 2": _qwen3(**SLIDING, max_window_layers=2),
    "qwen3 yarn, old names": _qwen3(
        rope_theta=1000.0,
        rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    ),
    "gemma3": _gemma3(**GEMMA_NEW),
    "gemma3 old names": _gemma3(**GEMMA_OLD),
    "gemma3 biases, untied, 6/2": _gemma3(
        **GEMMA_NEW, **heads(6, 2, 8, 36), attention_bias=True, tie_word_embeddings=False
    ),
    "gemma3 llama3 on its global layers": _gemma3(
        layer_types=GEMMA_NEW["layer_types"],
        rope_parameters=GEMMA_NEW["rope_parameters"]
        | {"full_attention": {"rope_type": "llama3", "rope_theta": 300.0} | LLAMA3},
    ),
}  # fmt: skip
ONE_OF_EACH = ("llama 5:1", "mistral window", "qwen2", "qwen3", "gemma3")


def config_of(name: str):
    return from_hf(copy.deepcopy(CASES[name]))


def fill_randomly(module: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """Every parameter random: matrices so that nothing explodes, the rest far from 0 and 1."""
    generator = torch.Generator().manual_seed(seed)
    gemma = "Gemma" in type(module).__name__ or getattr(module.config, "norm_plus_one", False)
    with torch.no_grad():
        for name, p in module.named_parameters():
            noise = torch.randn(p.shape, generator=generator, dtype=torch.float64)
            if "norm" in name:
                p.copy_(0.4 * noise + (0.0 if gemma else 1.0))
            elif p.dim() == 1:
                p.copy_(0.5 * noise)
            else:
                plain = "embed" in name and not gemma  # Gemma multiplies by sqrt(width) itself
                p.copy_(noise * (1.0 if plain else 1.3 * p.shape[1] ** -0.5))
    return module.requires_grad_(False).eval()


def random_model(name: str, dtype=torch.float64, seed: int = 0) -> Transformer:
    return fill_randomly(Transformer(config_of(name)), seed).to(dtype)


def random_tokens(count: int, seed: int = 0, vocab: int = VOCAB) -> torch.Tensor:
    return torch.randint(0, vocab, (count,), generator=torch.Generator().manual_seed(seed))


def theirs_and_ours(data: dict, attention: str = "eager", seed: int = 0):
    """The same random weights in transformers' model and in ours, float32."""
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    config = CONFIG_MAPPING[data["model_type"]].from_dict(copy.deepcopy(data))
    theirs = AutoModelForCausalLM.from_config(config, attn_implementation=attention)
    fill_randomly(theirs.float(), seed)
    return theirs, ours_of(theirs, data)


def ours_of(theirs, data: dict) -> Transformer:
    config, stored = from_hf(copy.deepcopy(data)), theirs.state_dict()
    model = Transformer(config).requires_grad_(False).eval()
    model.load_state_dict({n: join(stored, n, config) for n in model.state_dict()})
    used = {name for n in model.state_dict() for name in hf_names(n, config)}
    assert used == set(stored), f"weights without a place: {set(stored) ^ used}"
    return model
