"""Headers of safetensors files, checked before anything is believed: names, types, places, shards.

Format: 8 bytes with the length of a JSON header; the header gives every tensor's type, shape and
place; then the tensors' bytes, without gaps.
"""

from __future__ import annotations

import math
import os
import struct
from dataclasses import dataclass
from pathlib import Path

import torch

from minillm.files import (
    MIB,
    PICKLE_MAGIC,
    PICKLES,
    LoadError,
    open_file,
    parse_json,
    read_json,
    refuse_pickle,
)

MAX_HEADER = 100 * MIB  # the limit of the safetensors format itself
DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
}  # fmt: skip
QUANTISED = DTYPES | {"I8": torch.int8, "I32": torch.int32, "I64": torch.int64}


@dataclass(frozen=True)
class Stored:
    """One tensor as a header describes it, before it is read."""

    file: Path
    shape: tuple[int, ...]
    dtype: torch.dtype


def scan_folder(folder: Path, dtypes: dict = DTYPES) -> dict[str, Stored]:
    """Headers of all safetensors files of a folder -> {name: Stored}; shards by their index.

    dtypes: the number formats that may appear.
    """
    index = folder / "model.safetensors.index.json"
    single = folder / "model.safetensors"
    if single.exists() or single.is_symlink():
        return scan_file(single, dtypes)
    if not index.exists():
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            pickles = sorted(p for p in folder.iterdir() if p.suffix.lower() in PICKLES)
            if pickles:
                refuse_pickle(pickles[0])
            raise LoadError(f"{folder} holds no *.safetensors file")
        return _union(files, dtypes)
    names = read_json(index, 64 * MIB).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise LoadError(f"{index} has no weight_map")
    shards = set(map(str, names.values()))
    if strange := [s for s in shards if Path(s).name != s or not s.endswith(".safetensors")]:
        raise LoadError(f"{index} names {sorted(strange)[0][:80]!r}: a *.safetensors file of this "
                        "folder is expected")  # fmt: skip
    if absent := sorted(s for s in shards if not (folder / s).exists()):
        raise LoadError(f"{folder} lacks the shards {', '.join(absent[:8])}: fetch them again")
    stored = _union([folder / s for s in sorted(shards)], dtypes)
    wrong = [n for n, s in names.items() if n in stored and stored[n].file.name != s]
    wrong += [n for n in names if n not in stored]
    if wrong:
        raise LoadError(f"{index} and the shards disagree about {', '.join(wrong[:8])}")
    return stored


def scan_file(path: Path, dtypes: dict = DTYPES) -> dict[str, Stored]:
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
    stored = {name: _entry(path, name, entry, dtypes) for name, entry in header.items()}
    _check_places(path, header, stored, size - 8 - length)
    return stored


def _entry(path: Path, name: str, entry, dtypes: dict) -> Stored:
    try:
        dtype, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        whole = [type(n) is int and n >= 0 for n in (*shape, start, end)]
    except (TypeError, KeyError, ValueError):
        raise LoadError(f"{path}: the header's entry of {name[:80]!r} is damaged") from None
    if not isinstance(dtype, str) or dtype not in dtypes:
        raise LoadError(
            f"{path}: {name[:80]!r} is stored as {str(dtype)[:20]}, only {', '.join(dtypes)} load"
        )
    if not all(whole) or end - start != math.prod(shape) * dtypes[dtype].itemsize:
        raise LoadError(f"{path}: {name[:80]!r} has a shape that its bytes do not fill")
    return Stored(path, tuple(shape), dtypes[dtype])


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


def _union(files, dtypes: dict) -> dict[str, Stored]:
    stored = {}
    for path in files:
        for name, entry in scan_file(path, dtypes).items():
            if name in stored:
                raise LoadError(f"{name} is both in {stored[name].file} and in {path}")
            stored[name] = entry
    return stored
