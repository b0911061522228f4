"""A llama-shaped model of token ids as one GGUF file, for llama.cpp beside us in a benchmark."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from minillm.gguf_model import INNER, OUTER
from minillm.weights import hf_tensors

TO_GGUF = {theirs: ours for ours, theirs in (OUTER | INNER).items()}


def write_gguf(model, path: Path, kind: str = "F32") -> None:
    """A llama model without biases as a GGUF file: matrices in `kind`, norms in float32.

    ValueError for any other model. Rows of q and k are put in the order of llama.cpp's
    RoPE, which turns neighbours (0, 1) where ours turns halves (0, K/2).
    """
    import gguf

    config = model.config
    if why := _why_not(model):
        raise ValueError(f"no GGUF file is written: {why}")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_layers)
    writer.add_context_length(config.max_len)
    writer.add_embedding_length(config.width)
    writer.add_feed_forward_length(config.mlp_width)
    writer.add_head_count(config.num_heads)
    writer.add_head_count_kv(config.num_kv_heads)
    writer.add_key_length(config.head_size)
    writer.add_value_length(config.head_size)
    writer.add_rope_dimension_count(config.head_size)
    writer.add_rope_freq_base(config.ropes[0].theta)
    writer.add_layer_norm_rms_eps(config.norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("no_vocab")
    form = gguf.GGMLQuantizationType[kind]
    for name, tensor in hf_tensors(model).items():
        array = tensor.float().cpu().numpy()
        if name.endswith("q_proj.weight"):
            array = _pairs(array, config.num_heads)
        if name.endswith("k_proj.weight"):
            array = _pairs(array, config.num_kv_heads)
        if array.ndim == 1:
            writer.add_tensor(gguf_name(name), array)
        else:
            writer.add_tensor(gguf_name(name), gguf.quants.quantize(array, form), raw_dtype=form)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_name(name: str) -> str:
    """Hugging Face's name of a tensor -> llama.cpp's."""
    stem, _, kind = name.rpartition(".")
    if stem in TO_GGUF:
        return f"{TO_GGUF[stem]}.{kind}"
    _, _, layer, inner = stem.split(".", 3)
    return f"blk.{layer}.{TO_GGUF[inner]}.{kind}"


def _pairs(array, heads: int):
    """Rows of one head from halves (0, K/2) (1, K/2+1).. to pairs (0, 1) (2, 3)..; a copy."""
    halves = array.reshape(heads, 2, -1, *array.shape[1:])
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(array.shape)


def _why_not(model) -> str | None:
    config = model.config
    if config.family != "llama":
        return f"the model is a {config.family}, not a llama"
    if [rope.kind for rope in config.ropes] != ["default"] or any(config.windows):
        return "its positions are stretched or its attention has windows"
    if config.activation != "silu":
        return f"its activation is {config.activation}"
    if any(name.endswith("bias") for name, _ in model.named_parameters()):
        return "it has biases"
    if any("float" not in kind for kinds in model.weight_bytes().values() for kind in kinds):
        return "its weights are packed already"
    return None
