"""Small random models made by transformers, one of every family and RoPE scaling, for the tests."""

from __future__ import annotations

import torch
import transformers

SMALL = dict(
    vocab_size=111, hidden_size=48, intermediate_size=80, num_hidden_layers=3,
    num_attention_heads=6, num_key_value_heads=2, max_position_embeddings=64, head_dim=16,
)  # fmt: skip
LLAMA3 = dict(
    rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
    original_max_position_embeddings=16, rope_theta=10_000.0,
)  # fmt: skip
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16, rope_theta=10_000.0)
LINEAR = dict(rope_type="linear", factor=4.0, rope_theta=10_000.0)
MODELS = {  # name: (class prefix, fields)
    "llama": ("Llama", {}),
    "llama-tied": ("Llama", dict(tie_word_embeddings=True)),
    "llama-bias": ("Llama", dict(attention_bias=True, mlp_bias=True)),
    "llama-llama3": ("Llama", dict(rope_parameters=LLAMA3)),
    "llama-linear": ("Llama", dict(rope_parameters=LINEAR)),
    "llama-yarn": ("Llama", dict(rope_parameters=YARN)),
    "mistral": ("Mistral", dict(sliding_window=None)),
    "mistral-window": ("Mistral", dict(sliding_window=5)),
    "qwen2": ("Qwen2", dict(tie_word_embeddings=True)),
    "qwen2-window": ("Qwen2", dict(use_sliding_window=True, sliding_window=5, max_window_layers=1)),
    "qwen3": ("Qwen3", {}),
    "qwen3-tied": ("Qwen3", dict(tie_word_embeddings=True, rope_parameters=YARN)),
    "gemma3": ("Gemma3", dict(sliding_window=5, num_hidden_layers=7, query_pre_attn_scalar=24)),
    "gemma3-untied": ("Gemma3", dict(sliding_window=5, tie_word_embeddings=False)),
    "gemma3-linear": ("Gemma3", dict(sliding_window=5, num_hidden_layers=7, rope_parameters={
        "full_attention": dict(LINEAR, rope_theta=1e6),
        "sliding_attention": dict(rope_type="default", rope_theta=1e4)})),
}  # fmt: skip


def hf_model(name: str, seed: int = 0):
    """A transformers model in float32 with random weights, norms and biases included."""
    prefix, fields = MODELS[name]
    kind = "Gemma3TextConfig" if prefix == "Gemma3" else prefix + "Config"
    config = getattr(transformers, kind)(**SMALL | fields)
    config._attn_implementation = "eager"
    model = getattr(transformers, prefix + "ForCausalLM")(config).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():  # large enough that every part shows in the logits
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(noise * 0.1 + (parameter if parameter.dim() == 1 else 0))
    return model


def transformers_gguf(path):
    """A GGUF as transformers itself reads it (its reader, names, permutation), in float32."""
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = transformers.AutoConfig.from_pretrained(path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    parts = load_gguf_checkpoint(path, return_tensors=True, model_to_load=model)
    missing, extra = model.load_state_dict(parts["tensors"], strict=False)
    assert not extra and set(missing) <= {"lm_head.weight"}, (missing, extra)
    model.tie_weights()
    return model


def tokens(count: int = 40, vocab: int = 111, seed: int = 1) -> torch.Tensor:
    """Random token ids [T]; longer than every sliding window and original context above."""
    return torch.randint(vocab, (count,), generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def logits(model, tokens_T: torch.Tensor) -> torch.Tensor:
    """[T, V] of either kind of model."""
    if isinstance(model, transformers.PreTrainedModel):
        return model(tokens_T[None]).logits[0]
    return model(tokens_T)


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """Largest difference, relative to the spread of the expected logits."""
    spread = expected.max() - expected.min()
    return float((got - expected).abs().max() / spread)
