"""save(model, tokenizer, folder): Hugging Face's layout, written whole or not at all."""

from __future__ import annotations

import errno
import json
import math
import shutil
import struct
from pathlib import Path

import torch

from minillm.files import SaveError, new_folder
from minillm.hf_config import to_hf, why_not_transformers

CODES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
         torch.int8: "I8", torch.int32: "I32", torch.int64: "I64"}  # fmt: skip
OURS = {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
        "tokenizer_config.json", "README.md"}  # fmt: skip


def save(model, tokenizer, folder: str | Path) -> None:
    """Write a model, and its tokenizer unless None, so that transformers loads them.

    Dense models as they are; int8, int4 and w8a8 models as compressed-tensors checkpoints, which
    vLLM reads too. NF4 has no place in that format and is refused.

    The folder appears under its name only when complete. An existing one is replaced if it holds
    nothing but a model's files. Raises SaveError; the old folder is then as it was.
    """
    from minillm.compress.folder import quantised_tensors
    from minillm.weights import hf_tensors

    folder = Path(folder)
    if any(getattr(m, "form", None) for m in model.modules()):
        raise SaveError("a sparse form has no place in a folder: save sparse.densify(model)")
    if why := why_not_transformers(model.config):
        raise SaveError(why)
    packed, quantization = quantised_tensors(model)
    tensors = {n: t.cpu() for n, t in (hf_tensors(model) | packed).items()}
    check_target(folder)
    try:
        with new_folder(folder) as part:
            if (free := shutil.disk_usage(part).free) < sum(t.nbytes for t in tensors.values()):
                raise OSError(errno.ENOSPC, f"only {free >> 20} MB are free")
            _write_config(part, model, quantization)
            if tokenizer is not None:
                _write_tokenizer(part, tokenizer)
            shapes = {n: tuple(t.shape) for n, t in tensors.items()}
            dtypes = {n: t.dtype for n, t in tensors.items()}
            write_safetensors(part / "model.safetensors", shapes, tensors.items(), dtypes)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or error
        raise SaveError(f"{folder} was not saved: {reason}; nothing was changed") from None


def write_safetensors(path: Path, shapes: dict, tensors, dtypes: dict | None = None) -> None:
    """Stream (name, tensor) pairs into one safetensors file; never holds more than one of them.

    shapes: {name: shape} of all, in the order of `tensors`; dtypes: {name: dtype}, default float32.
    Format: length of the header (8 bytes), JSON header, the tensors' bytes without gaps.
    """
    dtypes = dtypes or dict.fromkeys(shapes, torch.float32)
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        end = at + math.prod(shape) * dtypes[name].itemsize
        header[name] = {"dtype": CODES[dtypes[name]], "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for (name, tensor), expected in zip(tensors, shapes, strict=True):
            assert name == expected and tensor.dtype == dtypes[name], (name, expected)
            file.write(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)


def write_json(path: Path, data: dict) -> None:
    """Indented UTF-8 JSON."""
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _write_config(folder: Path, model, quantization: dict | None) -> None:
    config = model.config
    data = to_hf(config) | {"dtype": str(model.embedding.weight.dtype).removeprefix("torch.")}
    if quantization:
        data["quantization_config"] = quantization
    write_json(folder / "config.json", data)
    ends = {"bos_token_id": config.bos_token_id, "eos_token_id": list(config.eos_token_ids)}
    ends = {k: v for k, v in ends.items() if v not in (None, [])}
    write_json(folder / "generation_config.json", ends)


def _write_tokenizer(folder: Path, tokenizer) -> None:
    (folder / "tokenizer.json").write_text(tokenizer.backend.to_str(), "utf-8")
    name = tokenizer.backend.id_to_token
    data = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    if tokenizer.bos_token_id is not None:
        data["bos_token"] = name(tokenizer.bos_token_id)
    if tokenizer.eos_token_ids:
        data["eos_token"] = name(tokenizer.eos_token_ids[0])
    if tokenizer.chat_template is not None:
        data["chat_template"] = tokenizer.chat_template
    write_json(folder / "tokenizer_config.json", data)


def check_target(folder: Path) -> None:
    """Raises SaveError where a model cannot be saved under this name."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise SaveError(f"{folder} is not a folder: choose another name")
    if folder.exists():
        here, there = Path.cwd(), folder.resolve()
        if here.is_relative_to(there):  # it is swapped, not filled
            how = "is" if here == there else "holds"
            raise SaveError(f"{folder} {how} the folder you are in: choose a new folder")
        strange = sorted(p.name for p in folder.iterdir() if p.name not in OURS)
        if strange:
            raise SaveError(f"{folder} holds other files ({strange[0]}): choose a new folder")
