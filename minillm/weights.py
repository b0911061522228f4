"""Weights from safetensors files into a Transformer, allocating only what the files hold.

The names and shapes in the files' headers are compared with the model's before a single byte of a
tensor is read, so everything that is wrong is named in one error and nothing huge is allocated.
"""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from minillm import arena
from minillm.config import ModelConfig
from minillm.files import LoadError
from minillm.model import Transformer, qkv_rows
from minillm.safetensors_file import DTYPES, QUANTISED, Stored, scan_folder

ROTARY = re.compile(r"(model\.layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq")  # derived: ignored
# Ours -> Hugging Face, outside and inside a layer. Gemma 3 gives "post attention" another meaning.
OUTER = {"embedding": "model.embed_tokens", "norm": "model.norm", "head": "lm_head"}
INNER = {
    "attention_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm",
    "attention.o": "self_attn.o_proj",
    "attention.q_norm": "self_attn.q_norm", "attention.k_norm": "self_attn.k_norm",
    "mlp.down": "mlp.down_proj",
}  # fmt: skip
JOINT = {  # one matrix of ours, several in a checkpoint, one below the other
    "attention.qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "mlp.gate_up": ("mlp.gate_proj", "mlp.up_proj"),
}
GEMMA = {
    "attention_post_norm": "post_attention_layernorm", "mlp_norm": "pre_feedforward_layernorm",
    "mlp_post_norm": "post_feedforward_layernorm",
}  # fmt: skip


def hf_names(ours: str, config: ModelConfig) -> list[str]:
    """What one of our parameters is called in a Hugging Face checkpoint; several where JOINT."""
    module, _, kind = ours.rpartition(".")
    if not module.startswith("layers."):
        return [f"{OUTER[module]}.{kind}"]
    _, layer, inner = module.split(".", 2)
    table = INNER | GEMMA if config.post_norms else INNER
    found = JOINT.get(inner) or (table[inner],)
    return [f"model.layers.{layer}.{name}.{kind}" for name in found]


def hf_tensors(model: Transformer) -> dict[str, Tensor]:
    """The model's parameters under Hugging Face names (views), a tied head left out."""
    tensors = {}
    for ours, parameter in model.named_parameters():
        names, rows = hf_names(ours, model.config), parameter.shape[0]
        if ".qkv." in ours:
            rows = qkv_rows(model.config)
        elif len(names) > 1:
            rows = rows // len(names)
        tensors |= dict(zip(names, parameter.detach().split(rows), strict=True))
    return tensors


def join(tensors: dict[str, Tensor], ours: str, config: ModelConfig) -> Tensor:
    """One of our parameters from tensors under Hugging Face names."""
    parts = [tensors[name] for name in hf_names(ours, config)]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def empty_model(config: ModelConfig) -> Transformer:
    """The model on the meta device: names and shapes, no memory."""
    with torch.device("meta"), _uninitialised(nn.Embedding), _uninitialised(nn.Linear):
        return Transformer(config)


@contextlib.contextmanager
def _uninitialised(kind: type[nn.Module]):
    """Layers made inside draw no random numbers.

    On the meta device drawing them does nothing, but makes torch load its compiler: 2 seconds.
    """
    reset = kind.reset_parameters
    kind.reset_parameters = lambda self: None
    try:
        yield
    finally:
        kind.reset_parameters = reset


def load_folder_weights(folder: Path, config: ModelConfig, tie_if_absent: bool, dtype, device,
                        quantization: dict | None = None):  # fmt: skip
    """All weights of a folder -> Transformer of `dtype` on `device`, in eval mode, no gradients.

    quantization: the folder's quantization_config, if it has one (compressed-tensors).

    dtype may be a function of the most frequent stored dtype. A head that is absent is the
    embedding when the config ties them (or `tie_if_absent`); one that is present beside a tied
    config must equal the embedding. Raises LoadError naming all missing, extra and misshapen
    tensors and missing shards.
    """
    stored = scan_folder(folder, QUANTISED if quantization else DTYPES)
    if tie_if_absent and not any(name.startswith("lm_head.") for name in stored):
        config = replace(config, tie_embeddings=True)
    model = empty_model(config)
    if quantization:
        from minillm.compress.folder_load import take_quantised

        take_quantised(model, quantization, folder, stored, device)
    wanted = {name: tensor.shape for name, tensor in hf_tensors(model).items()}
    check_names(folder, stored, wanted, config)
    if callable(dtype):
        sizes = {}
        for entry in stored.values():
            sizes[entry.dtype] = sizes.get(entry.dtype, 0) + math.prod(entry.shape)
        dtype = dtype(max(sizes, key=sizes.get))
    ours = [name for name, _ in model.named_parameters()]
    joint = [name for name in ours if len(hf_names(name, config)) > 1]
    apart = {name for n in joint for name in hf_names(n, config)}
    tensors = read(stored, [n for n in stored if n not in apart], dtype, device)
    if config.tie_embeddings and "lm_head.weight" in stored:
        if not torch.equal(tensors["lm_head.weight"], tensors["model.embed_tokens.weight"]):
            raise LoadError(
                f"{folder}: config.json ties head and embedding, but lm_head.weight differs from "
                "model.embed_tokens.weight: set tie_word_embeddings to false to use both"
            )
    params = {n: join(tensors, n, config) for n in ours if n not in joint}
    for name in joint:  # copied, so read one by one: the parts' pages of the file go at once
        parts = read(stored, hf_names(name, config), dtype, device)
        params[name] = join(parts, name, config)
    return fill(model, params)


def fill(model: Transformer, tensors: dict[str, Tensor]) -> Transformer:
    """Put tensors (our names) in the place of the meta parameters; ties the head again."""
    missing = model.load_state_dict(arena.gather(tensors), strict=False, assign=True).missing_keys
    quantised = {f"{n}.{b}" for n, m in model.named_modules() if hasattr(m, "num_packed")
                 for b, _ in m.named_buffers()}  # fmt: skip
    assert set(missing) <= {"head.weight"} | quantised, missing
    if model.config.tie_embeddings:
        model.head.weight = model.embedding.weight
    return model.requires_grad_(False).eval()


def check_names(folder, stored: dict[str, Stored], wanted: dict, config: ModelConfig) -> None:
    """Compare headers and model; one LoadError that lists every difference."""
    optional = {"lm_head.weight"} if config.tie_embeddings else set()
    shapes = dict(wanted)
    if optional:
        shapes["lm_head.weight"] = wanted["model.embed_tokens.weight"]
    extra = [n for n in stored if n not in shapes and not ROTARY.fullmatch(n)]
    missing = [n for n in wanted if n not in stored]
    wrong = [
        f"{n} is {list(stored[n].shape)}, config.json needs {list(shapes[n])}"
        for n in shapes
        if n in stored and tuple(stored[n].shape) != tuple(shapes[n])
    ]
    faults = [
        f"{len(names)} {what}: {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}"
        for what, names in (("missing", missing), ("not known", extra), ("of wrong shape", wrong))
        if names
    ]
    if faults:
        raise LoadError(f"{folder}: the tensors do not fit config.json. " + "; ".join(faults))
    for name in [n for n in stored if ROTARY.fullmatch(n)]:
        del stored[name]


def read(stored: dict[str, Stored], names: list[str], dtype, device) -> dict[str, Tensor]:
    """Some tensors of a checkpoint; what needs no conversion stays mapped to the file."""
    from safetensors import SafetensorError, safe_open

    tensors = {}
    for path in sorted({stored[name].file for name in names}):
        here = [name for name in names if stored[name].file == path]
        try:
            with safe_open(path, framework="pt") as file:
                tensors |= {n: convert(file.get_tensor(n), n, dtype).to(device) for n in here}
        except (SafetensorError, OSError) as error:
            raise LoadError(f"{path} cannot be read: {error}") from None
    return tensors


def convert(tensor: Tensor, name: str, dtype: torch.dtype) -> Tensor:
    """Cast, refusing what float16 cannot hold (above 65,504) instead of making it infinite."""
    cast = tensor.to(dtype)
    if dtype == torch.float16 and tensor.dtype != dtype:
        if not cast.isfinite().all() and tensor.isfinite().all():
            raise LoadError(
                f"{name} holds {tensor.abs().max():.4g}, above 65,504, the largest float16: load "
                "with dtype='bf16' or 'fp32'"
            )
    return cast
