"""A GGUF file's metadata as a config.json, and its tensors under Hugging Face names.

llama.cpp's converter renames tensors, reorders the rows of q and k for its own RoPE (llama), and
adds 1 to Gemma's norms. All of that is undone here, so that what follows is an ordinary folder.
"""

from __future__ import annotations

import numpy as np
import torch

from minillm import ops
from minillm.config import RopeConfig
from minillm.files import LoadError
from minillm.gguf_file import GGUFFile

OUTER = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
}  # fmt: skip
INNER = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}  # fmt: skip
GEMMA = {
    "post_attention_norm": "post_attention_layernorm", "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}  # fmt: skip
MODEL_TYPES = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma3": "gemma3_text"}
ROPE_KEYS = {
    "rope.scaling.factor": "factor",
    "rope.scaling.original_context_length": "original_max_position_embeddings",
    "rope.scaling.yarn_beta_fast": "beta_fast",
    "rope.scaling.yarn_beta_slow": "beta_slow",
}
READ = {
    "context_length", "embedding_length", "block_count", "feed_forward_length", "vocab_size",
    "attention.head_count", "attention.head_count_kv", "attention.layer_norm_rms_epsilon",
    "attention.key_length", "attention.value_length", "attention.sliding_window",
    "rope.dimension_count", "rope.freq_base", "rope.freq_base_swa", "rope.scaling.type",
    "rope.scaling.finetuned", *ROPE_KEYS,
}  # fmt: skip
HARMLESS = {"tensor_data_layout"}


def hf_config(file: GGUFFile) -> dict:
    """The config.json that this file describes. What we cannot compute is refused by its key."""
    arch = _arch(file)
    _refuse_unknown(file, arch)
    get = lambda key, default=None: _number(file, f"{arch}.{key}", default)
    heads, width = get("attention.head_count"), get("embedding_length")
    if type(heads) is not int or heads < 1:
        raise LoadError(f"{file.path}: {arch}.attention.head_count is {heads!r}")
    head_size = get("attention.key_length", get("rope.dimension_count", width // heads))
    for key in ("rope.dimension_count", "attention.value_length"):
        if get(key, head_size) != head_size:
            raise LoadError(f"{file.path}: {arch}.{key} differs from the head size {head_size}")
    if "token_embd.weight" not in file.tensors:
        raise LoadError(f"{file.path} lacks the tensor token_embd.weight")
    data = {
        "model_type": MODEL_TYPES[arch],
        "vocab_size": file.tensors["token_embd.weight"].shape[0],
        "hidden_size": width,
        "intermediate_size": get("feed_forward_length"),
        "num_hidden_layers": get("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": get("attention.head_count_kv", heads),
        "head_dim": head_size,
        "max_position_embeddings": get("context_length"),
        "rms_norm_eps": get("attention.layer_norm_rms_epsilon"),
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "rope_parameters": _rope(file, arch, head_size),
        "bos_token_id": file.metadata.get("tokenizer.ggml.bos_token_id"),
    }
    window = get("attention.sliding_window", 0)
    if arch == "llama":
        data["attention_bias"] = "blk.0.attn_q.bias" in file.tensors
        data["mlp_bias"] = "blk.0.ffn_up.bias" in file.tensors
        if window:
            data |= {"model_type": "mistral", "sliding_window": window}
    elif window and arch.startswith("qwen"):
        raise LoadError(f"{file.path}: {arch}.attention.sliding_window is not read")
    return data if arch != "gemma3" else data | _gemma(data, get, window)


def hf_tensors(file: GGUFFile, config: dict):
    """Yield (Hugging Face name, float32 torch tensor), one at a time to keep memory low."""
    arch = _arch(file)
    table = INNER | GEMMA if arch == "gemma3" else INNER
    for name in file.tensors:
        if name == "rope_freqs.weight":
            continue  # read into the config
        array = file.array(name)
        if arch == "gemma3" and name.endswith("norm.weight"):
            array = array - 1
        if arch == "llama" and ".attn_q." in name:
            array = _unpermute(array, config["num_attention_heads"])
        if arch == "llama" and ".attn_k." in name:
            array = _unpermute(array, config["num_key_value_heads"])
        yield _hf_name(name, table), torch.from_numpy(np.ascontiguousarray(array))


def hf_shapes(file: GGUFFile) -> dict[str, tuple[int, ...]]:
    """{Hugging Face name: shape} in the order in which hf_tensors yields them."""
    table = INNER | GEMMA if _arch(file) == "gemma3" else INNER
    shapes = [(_hf_name(n, table), t.shape) for n, t in file.tensors.items()]
    return {n: shape for n, shape in shapes if n != "rope_freqs.weight"}


def _hf_name(name: str, table: dict) -> str:
    stem, _, kind = name.rpartition(".")
    if stem in OUTER:
        return f"{OUTER[stem]}.{kind}"
    parts = stem.split(".", 2)
    if len(parts) == 3 and parts[0] == "blk" and parts[2] in table:
        return f"model.layers.{parts[1]}.{table[parts[2]]}.{kind}"
    return name  # reported as not known, together with all others


def _unpermute(array, heads: int):
    """Rows of one head back from pairs (0,1) (2,3).. to halves (0, K/2) (1, K/2+1).."""
    if array.shape[0] % (2 * heads):
        raise LoadError(f"q or k with {array.shape[0]} rows cannot be shared by {heads} heads")
    pairs = array.reshape(heads, -1, 2, *array.shape[1:])
    return pairs.swapaxes(1, 2).reshape(array.shape)


def _gemma(data: dict, get, window: int) -> dict:
    """What llama.cpp keeps in its code instead of the file: every 6th layer is global."""
    layers = data["num_hidden_layers"]
    if type(layers) is not int or not 1 <= layers <= 512:
        raise LoadError(f"gemma3.block_count is {layers!r}")
    local = {"rope_type": "default", "rope_theta": get("rope.freq_base_swa", 10_000.0)}
    types = ["full_attention" if i % 6 == 5 else "sliding_attention" for i in range(layers)]
    scalar = data["head_dim"]
    if layers == 62:  # the 27B model alone scales by width / heads
        scalar = data["hidden_size"] // data["num_attention_heads"]
    return {
        "hidden_activation": "gelu_pytorch_tanh",
        "query_pre_attn_scalar": scalar,
        "sliding_window": window or 4096,
        "layer_types": types,
        "rope_parameters": {"full_attention": data["rope_parameters"], "sliding_attention": local},
    }


def _rope(file: GGUFFile, arch: str, head_size: int) -> dict:
    get = lambda key, default=None: file.metadata.get(f"{arch}.{key}", default)
    kind = get("rope.scaling.type", "none")
    default_base = 1e6 if arch == "gemma3" else 1e4
    data = {"rope_type": "default", "rope_theta": get("rope.freq_base", default_base)}
    if "rope_freqs.weight" in file.tensors:
        return data | _llama3(file, data["rope_theta"], head_size)
    if kind == "none":
        return data
    if kind not in ("linear", "yarn"):
        raise LoadError(f"{file.path}: {arch}.rope.scaling.type {kind!r} is not implemented")
    keys = ROPE_KEYS if kind == "yarn" else {"rope.scaling.factor": "factor"}
    data |= {ours: get(key) for key, ours in keys.items() if get(key) is not None}
    return data | {"rope_type": kind}


def _llama3(file: GGUFFile, theta: float, head_size: int) -> dict:
    """The file lists what each frequency is divided by; find the llama3 scaling that gives it."""
    divisors = torch.from_numpy(file.array("rope_freqs.weight").copy())
    factor = float(divisors.max())
    for original in (8192, file.metadata.get("llama.rope.scaling.original_context_length")):
        if divisors.numel() != head_size // 2 or not factor >= 1 or not original:
            continue
        fields = dict(theta=float(theta), original_len=original)
        both = RopeConfig(**fields), RopeConfig(kind="llama3", factor=factor, **fields)
        plain, stretched = (ops.rope_frequencies(r, head_size, torch.float64) for r in both)
        if torch.allclose(plain / stretched, divisors.double(), rtol=1e-4):
            return {
                "rope_type": "llama3", "factor": factor, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": original,
            }  # fmt: skip
    raise LoadError(f"{file.path}: rope_freqs.weight is not a llama3 scaling of factor {factor:g}")


def _arch(file: GGUFFile) -> str:
    arch = file.metadata.get("general.architecture")
    if arch not in MODEL_TYPES:
        known = ", ".join(MODEL_TYPES)
        raise LoadError(f"{file.path}: architecture {str(arch)[:60]!r} is not one of {known}")
    return arch


def _refuse_unknown(file: GGUFFile, arch: str) -> None:
    for key, value in file.metadata.items():
        name = key.removeprefix(arch + ".")
        if name != key and name not in READ | HARMLESS and value not in (0, 0.0, False, ""):
            raise LoadError(f"{file.path}: {key}={str(value)[:60]!r} is not implemented")


def _number(file: GGUFFile, key: str, default=None):
    value = file.metadata.get(key, default)
    if isinstance(value, list) and value and len(set(map(str, value))) == 1:
        value = value[0]  # one entry a layer, all the same
    if value is None:
        raise LoadError(f"{file.path} lacks the key {key}")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LoadError(f"{file.path}: {key} must be a number, got {str(value)[:60]!r}")
    return value
