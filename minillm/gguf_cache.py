"""GGUF files converted once: an ordinary folder in the cache, named by the file's SHA-256."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import sys
from pathlib import Path

from minillm.files import LoadError, SaveError, new_file, new_folder, open_file, read_json

VERSION = 1  # of the conversion: a new number leaves old folders unused


def cache_folder() -> Path:
    """Where converted models are kept: $MINILLM_CACHE, or ~/.cache/minillm."""
    if chosen := os.environ.get("MINILLM_CACHE"):
        return Path(chosen)
    try:
        return Path.home() / ".cache" / "minillm"
    except RuntimeError:  # a user without an entry, as in containers, and no HOME
        raise SaveError("there is no home folder to keep converted models in; set MINILLM_CACHE "
                        "to a folder that can be written") from None  # fmt: skip


def load_gguf(find_file, load_folder, dtype, device):
    """Load a GGUF through its converted folder, which is made first if it is not there.

    find_file: gives the path (it may have to assemble the file). A damaged folder in the cache is
    made again once.
    """
    try:
        return _load_gguf(find_file, load_folder, dtype, device)
    except OSError as error:
        raise SaveError(
            f"the converted model cannot be kept in {cache_folder()}: {error}; set MINILLM_CACHE "
            "to a folder that can be written"
        ) from None


def _load_gguf(find_file, load_folder, dtype, device):
    path = find_file()
    folder = cache_folder() / "gguf" / f"{sha256(path)}-v{VERSION}"
    if folder.exists():
        with contextlib.suppress(LoadError):
            return load_folder(folder, dtype, device)
    convert(path, folder)
    return load_folder(folder, dtype, device)


def convert(path: Path, folder: Path) -> None:
    """GGUF -> folder with config.json, float32 safetensors and the tokenizer's files.

    float32, because a block's scale times a code has more digits than float16 keeps.
    """
    from minillm import gguf_tokenizer
    from minillm.gguf_file import GGUFFile
    from minillm.gguf_model import hf_config, hf_tensors
    from minillm.gguf_tokenizer import build_tokenizer
    from minillm.load import read_config
    from minillm.save import write_json, write_safetensors

    file = GGUFFile(path)
    data = hf_config(file)
    data["eos_token_id"] = gguf_tokenizer.eos_token_ids(file.metadata)
    read_config(data, path)  # refused before anything is written
    shapes = check_tensors(file, data, path)
    _check_space(sum(4 * math.prod(s) for s in shapes.values()), folder)
    print(f"converting {path.name} once, to {folder}", file=sys.stderr)
    with new_folder(folder) as part:
        (part / "tokenizer.json").write_text(build_tokenizer(file.metadata).to_str(), "utf-8")
        write_json(part / "tokenizer_config.json", gguf_tokenizer.tokenizer_config(file.metadata))
        write_json(part / "config.json", data)
        write_safetensors(part / "model.safetensors", shapes, hf_tensors(file, data))


def check_tensors(file, data: dict, path: Path) -> dict[str, tuple[int, ...]]:
    """Compare the file's tensors with the config before any is unpacked -> {name: shape}."""
    from minillm.gguf_model import hf_shapes
    from minillm.load import read_config
    from minillm.safetensors_file import Stored
    from minillm.weights import check_names, empty_model, hf_tensors

    config = read_config(data, path)
    shapes = hf_shapes(file)
    wanted = {name: t.shape for name, t in hf_tensors(empty_model(config)).items()}
    check_names(path, {n: Stored(path, s, None) for n, s in shapes.items()}, wanted, config)
    return shapes


def sha256(path: Path) -> str:
    """SHA-256 of a file; remembered by path, size and time, so hashed once."""
    known = _known().get(_key(path))
    if isinstance(known, str) and len(known) == 64 and known.isalnum():
        return known
    digest = hashlib.sha256()
    with open_file(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    remember_sha256(path, digest.hexdigest())
    return digest.hexdigest()


def remember_sha256(path: Path, value: str) -> None:
    """Note a file's SHA-256. Only a convenience: a cache that cannot be written is no error."""
    with contextlib.suppress(OSError), new_file(cache_folder() / "sha256.json") as out:
        out.write(json.dumps(_known() | {_key(path): value}, indent=1).encode())


def _known() -> dict:
    with contextlib.suppress(LoadError):
        return read_json(cache_folder() / "sha256.json")
    return {}


def _key(path: Path) -> str:
    with open_file(path) as file:
        found = os.fstat(file.fileno())
    return f"{Path(path).resolve()}|{found.st_size}|{found.st_mtime_ns}|{found.st_ino}"


def _check_space(size: int, folder: Path) -> None:
    place = folder
    while not place.exists():
        place = place.parent
    if (free := shutil.disk_usage(place).free) < size * 1.05:
        raise SaveError(f"{folder} needs {size >> 20} MB, the disk has {free >> 20} MB free; set "
                        "MINILLM_CACHE to a folder with more room")  # fmt: skip
