"""A model of random weights, large enough that its speed is that of the memory, not the cache."""

from __future__ import annotations

import os

import torch

from minillm.config import ModelConfig
from minillm.machine import ASSUMED_CACHE, last_level_cache, total_memory
from minillm.model import Transformer
from minillm.weights import empty_model, fill

MB = 10**6
STD = 0.02  # of every matrix; small enough that activations stay finite in float16


def blank_bytes() -> int:
    """Bytes of the weights in float32, chosen by this machine's cache and memory."""
    if os.environ.get("MINILLM_FAST") == "1":
        return 100 * MB
    cache = last_level_cache() or ASSUMED_CACHE
    return max(400 * MB, int(min(8 * cache, 1200 * MB, 0.15 * total_memory())))


def blank_config(vocab_size: int = 1024, size: int | None = None) -> ModelConfig:
    """Llama-shaped like `tiny`, wider; at least `size` bytes in float32 (default: blank_bytes)."""
    size = size or blank_bytes()
    width = 512 if size < 200 * MB else 1024
    kv_width, mlp_width = width // 4, 3 * width
    per_layer = 2 * width**2 + 2 * width * kv_width + 3 * width * mlp_width
    layers = -(-(size // 4 - vocab_size * width) // per_layer)
    return ModelConfig(
        family="llama", vocab_size=vocab_size, width=width, mlp_width=mlp_width,
        num_layers=max(1, layers), num_heads=width // 64, num_kv_heads=kv_width // 64,
        head_size=64, max_len=4096, tie_embeddings=True,
    )  # fmt: skip


def blank_model(
    vocab_size: int, dtype=torch.float32, device="cpu", seed: int = 0, size: int | None = None
) -> Transformer:
    """The same random weights every time; made in memory in a second or so.

    size: bytes of the weights in float32 (default: chosen by this machine, blank_bytes).
    """
    model = empty_model(blank_config(vocab_size, size))
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            value = torch.ones(parameter.shape)
        else:  # uniform is several times faster to draw than normal
            border = STD * 3**0.5
            value = torch.empty(parameter.shape).uniform_(-border, border, generator=generator)
        tensors[name] = value.to(device=device, dtype=dtype)
    return fill(model, tensors)
