"""How large the K/V pool is, and in which number format."""

from __future__ import annotations

import torch

from minillm.config import ConfigError, EngineConfig

DTYPES = {
    "fp64": torch.float64, "fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16,
}  # fmt: skip


def pool_dtype(model, kv_dtype: str):
    """-> (dtype in which K and V are read, what the pool stores: a dtype or "int8")."""
    dtype = model.embedding.weight.dtype
    if kv_dtype == "auto":
        return dtype, dtype
    return dtype, "int8" if kv_dtype == "int8" else DTYPES[kv_dtype]


def block_bytes(model, block_size: int, kv_dtype) -> int:
    """Bytes of one block over all layers, scales of int8 included."""
    c = model.config
    size = 1 if kv_dtype == "int8" else torch.empty(0, dtype=kv_dtype).element_size()
    scales = 0
    if kv_dtype == "int8":
        wide = 8 if model.embedding.weight.dtype == torch.float64 else 4
        scales = 2 * c.num_layers * c.num_kv_heads * wide
    return int(block_size * (c.kv_bytes_per_token(size) + scales))


def num_blocks_for(model, config: EngineConfig, kv_dtype) -> int:
    """Blocks of the pool: as configured, or what free memory allows and all seats could use.

    Every running request computes at least one token a step, so seats beyond max_batch_tokens use
    nothing. Raises ConfigError for a pool that memory cannot hold, before it is allocated.
    """
    longest = min(config.max_model_len or model.config.max_len, model.config.max_len)
    free = free_memory(model.embedding.weight.device)
    size = block_bytes(model, config.block_size, kv_dtype)
    if config.num_blocks is not None:
        if config.num_blocks * size > free:
            raise ConfigError(
                f"num_blocks={config.num_blocks} of {size} bytes need "
                f"{config.num_blocks * size / 1e6:.0f} MB, {free / 1e6:.0f} MB are free: at most "
                f"{free // size} fit"
            )
        return config.num_blocks
    if config.block_size > longest:
        raise ConfigError(
            f"block_size={config.block_size} is above the longest text of {longest} tokens: no "
            "block would ever be full; make it smaller, or give num_blocks"
        )
    seats = min(config.max_num_seqs, config.max_batch_tokens)
    useful = seats * -(-longest // config.block_size)
    fitting = int(free * config.memory_fraction) // size
    if fitting < 1:
        raise ConfigError(
            f"{free / 1e6:.0f} MB are free, not one block of K and V fits: use a smaller model, "
            "a smaller block_size, or kv_dtype='int8'"
        )
    return min(useful, fitting)


def free_memory(device: torch.device) -> int:
    """Bytes that can be allocated now on the model's device."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    import psutil

    return psutil.virtual_memory().available
