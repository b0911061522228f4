"""Weights from safetensors files into a Transformer, allocating only what the files hold.

The names and shapes in the files' headers are compared with the model's before a single byte of a
tensor is read, so everything that is wrong is named in one error and nothing huge is allocated.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import struct
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from minillm.config import ModelConfig
from minillm.files import (
    MIB,
    PICKLE_MAGIC,
    PICKLES,
    LoadError,
    open_file,
    parse_json,
    read_json,
    refuse_pickle,
)  # fmt: skip
from minillm.model import Transformer

MAX_HEADER = 100 * MIB  # the limit of the safetensors format itself
DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
}  # fmt: skip
ROTARY = re.compile(r"(model\.layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq")  # derived: ignored
# Ours -> Hugging Face, outside and inside a layer. Gemma 3 gives "post attention" another meaning.
OUTER = {"embedding": "model.embed_tokens", "norm": "model.norm", "head": "lm_head"}
INNER = {
    "attention_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm",
    "attention.q": "self_attn.q_proj", "attention.k": "self_attn.k_proj",
    "attention.v": "self_attn.v_proj", "attention.o": "self_attn.o_proj",
    "attention.q_norm": "self_attn.q_norm", "attention.k_norm": "self_attn.k_norm",
    "mlp.gate": "mlp.gate_proj", "mlp.up": "mlp.up_proj", "mlp.down": "mlp.down_proj",
}  # fmt: skip
GEMMA = {
    "attention_post_norm": "post_attention_layernorm", "mlp_norm": "pre_feedforward_layernorm",
    "mlp_post_norm": "post_feedforward_layernorm",
}  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """One tensor as a header describes it, before it is read."""

    file: Path
    shape: tuple[int, ...]
    dtype: torch.dtype


def hf_name(ours: str, config: ModelConfig) -> str:
    """Name of one of our parameters in a Hugging Face checkpoint of the same family."""
    module, _, kind = ours.rpartition(".")
    if not module.startswith("layers."):
        return f"{OUTER[module]}.{kind}"
    _, layer, inner = module.split(".", 2)
    table = INNER | GEMMA if config.post_norms else INNER
    return f"model.layers.{layer}.{table[inner]}.{kind}"


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


def load_folder_weights(folder: Path, config: ModelConfig, tie_if_absent: bool, dtype, device):
    """All weights of a folder -> Transformer of `dtype` on `device`, in eval mode, no gradients.

    dtype may be a function of the most frequent stored dtype. A head that is absent is the
    embedding when the config ties them (or `tie_if_absent`); one that is present beside a tied
    config must equal the embedding. Raises LoadError naming all missing, extra and misshapen
    tensors and missing shards.
    """
    stored = scan_folder(folder)
    if tie_if_absent and "lm_head.weight" not in stored:
        config = replace(config, tie_embeddings=True)
    model = empty_model(config)
    wanted = {hf_name(n, config): p.shape for n, p in model.named_parameters()}
    check_names(folder, stored, wanted, config)
    if callable(dtype):
        sizes = {}
        for entry in stored.values():
            sizes[entry.dtype] = sizes.get(entry.dtype, 0) + math.prod(entry.shape)
        dtype = dtype(max(sizes, key=sizes.get))
    tensors = {}
    for path in sorted({entry.file for entry in stored.values()}):
        tensors |= _read_file(path, [n for n, e in stored.items() if e.file == path], dtype, device)
    if config.tie_embeddings and "lm_head.weight" in stored:
        if not torch.equal(tensors["lm_head.weight"], tensors["model.embed_tokens.weight"]):
            raise LoadError(
                f"{folder}: config.json ties head and embedding, but lm_head.weight differs from "
                "model.embed_tokens.weight: set tie_word_embeddings to false to use both"
            )
    return fill(model, {n: tensors[hf_name(n, config)] for n, _ in model.named_parameters()})


def fill(model: Transformer, tensors: dict[str, Tensor]) -> Transformer:
    """Put tensors (our names) in the place of the meta parameters; ties the head again."""
    missing = model.load_state_dict(tensors, strict=False, assign=True).missing_keys
    assert set(missing) <= {"head.weight"}, missing
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


def scan_folder(folder: Path) -> dict[str, Stored]:
    """Headers of all safetensors files of a folder -> {name: Stored}; shards by their index."""
    index = folder / "model.safetensors.index.json"
    single = folder / "model.safetensors"
    if single.exists() or single.is_symlink():
        return scan_file(single)
    if not index.exists():
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            pickles = sorted(p for p in folder.iterdir() if p.suffix.lower() in PICKLES)
            if pickles:
                refuse_pickle(pickles[0])
            raise LoadError(f"{folder} holds no *.safetensors file")
        return _union(files)
    names = read_json(index, 64 * MIB).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise LoadError(f"{index} has no weight_map")
    shards = set(map(str, names.values()))
    if strange := [s for s in shards if Path(s).name != s or not s.endswith(".safetensors")]:
        raise LoadError(f"{index} names {sorted(strange)[0][:80]!r}: a *.safetensors file of this "
                        "folder is expected")  # fmt: skip
    if absent := sorted(s for s in shards if not (folder / s).exists()):
        raise LoadError(f"{folder} lacks the shards {', '.join(absent[:8])}: fetch them again")
    stored = _union([folder / s for s in sorted(shards)])
    wrong = [n for n, s in names.items() if n in stored and stored[n].file.name != s]
    wrong += [n for n in names if n not in stored]
    if wrong:
        raise LoadError(f"{index} and the shards disagree about {', '.join(wrong[:8])}")
    return stored


def scan_file(path: Path) -> dict[str, Stored]:
    """Read and check the header of one safetensors file (no tensor data)."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else size
        if length > min(size - 8, MAX_HEADER):
            if start.startswith(PICKLE_MAGIC):
                refuse_pickle(path)
            raise LoadError(f"{path} is no complete safetensors file: its header would have "
                            f"{length} of {size} bytes; fetch it again")  # fmt: skip
        try:
            header = parse_json(file.read(length).decode("utf-8"), path)
        except UnicodeDecodeError:
            raise LoadError(f"{path}: the header is not UTF-8 text") from None
    header.pop("__metadata__", None)
    stored = {name: _entry(path, name, entry) for name, entry in header.items()}
    _check_places(path, header, stored, size - 8 - length)
    return stored


def _entry(path: Path, name: str, entry) -> Stored:
    try:
        dtype, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        whole = [type(n) is int and n >= 0 for n in (*shape, start, end)]
    except (TypeError, KeyError, ValueError):
        raise LoadError(f"{path}: the header's entry of {name[:80]!r} is damaged") from None
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise LoadError(
            f"{path}: {name[:80]!r} is stored as {str(dtype)[:20]}, only {', '.join(DTYPES)} load"
        )
    if not all(whole) or end - start != math.prod(shape) * DTYPES[dtype].itemsize:
        raise LoadError(f"{path}: {name[:80]!r} has a shape that its bytes do not fill")
    return Stored(path, tuple(shape), DTYPES[dtype])


def _check_places(path: Path, header: dict, stored: dict, size: int) -> None:
    """The tensors must fill the rest of the file: no gap, no overlap, no missing end."""
    at = 0
    for start, end in sorted(tuple(header[name]["data_offsets"]) for name in stored):
        if start != at:
            raise LoadError(f"{path}: tensors overlap or leave a gap at byte {at}")
        at = end
    if at != size:
        raise LoadError(
            f"{path}: tensors need {at} bytes, the file holds {size}: cut off? fetch it again"
        )


def _union(files) -> dict[str, Stored]:
    stored = {}
    for path in files:
        for name, entry in scan_file(path).items():
            if name in stored:
                raise LoadError(f"{name} is both in {stored[name].file} and in {path}")
            stored[name] = entry
    return stored


def _read_file(path: Path, names, dtype, device) -> dict[str, Tensor]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            return {n: convert(file.get_tensor(n), n, dtype).to(device) for n in names}
    except (SafetensorError, OSError) as error:
        raise LoadError(f"{path} cannot be read: {error}") from None


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


def hf_tensors(model: nn.Module) -> dict[str, Tensor]:
    """The model's parameters under Hugging Face names, contiguous, a tied head left out."""
    return {
        hf_name(name, model.config): parameter.detach().contiguous()
        for name, parameter in model.named_parameters()
    }
