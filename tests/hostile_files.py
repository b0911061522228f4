"""Run by test_hostile.py in a child process: loads damaged files, one line of JSON for each.

usage: hostile_files.py KIND FIRST COUNT GOOD_FOLDER WORK_FOLDER
Every case is made from its number alone, so a failing one can be repeated.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import struct
import sys
import time
from pathlib import Path

import minillm
from minillm.files import LoadError

NUMBERS = [0, 1, -1, 7, 2**31, 2**32 - 1, 2**62, 2**63, -(2**63), 10**30, 1e308, -0.5, None, True,
           "x", "", [], {}, [1] * 9, {"a": {}}, "9" * 500, [[[[]]]]]  # fmt: skip


def damage(data: bytes, r: random.Random) -> bytes:
    """Cut off, flip bits, overwrite, insert, delete or swap: seeded."""
    kind = r.randrange(7)
    if kind == 0 or len(data) < 4:
        return data[: r.randrange(len(data) + 1)]
    data = bytearray(data)
    near = min(len(data), 4096) if r.random() < 0.7 else len(data)  # headers are the hard part
    at = r.randrange(near)
    if kind in (1, 2):
        for _ in range(r.choice([1, 1, 4, 50])):
            data[r.randrange(near)] ^= 1 << r.randrange(8)
    elif kind == 3:
        data[at : at + 8] = r.choice([b"\xff" * 8, b"\0" * 8, struct.pack("<Q", r.getrandbits(62))])
    elif kind == 4:
        data[at:at] = r.randbytes(r.choice([1, 8, 100]))
    elif kind == 5:
        del data[at : at + r.choice([1, 8, 100])]
    else:
        other = r.randrange(near)
        data[at : at + 16], data[other : other + 16] = data[other : other + 16], data[at : at + 16]
    return bytes(data)


def lie(value, r: random.Random):
    """Replace one value somewhere in a JSON document by a strange one."""
    holders, stack = [], [value]
    while stack:
        item = stack.pop()
        if isinstance(item, (dict, list)) and item:
            holders.append(item)
            children = list(item.values() if isinstance(item, dict) else item)
            stack += children[:200]
    holder = r.choice(holders)
    key = r.choice(list(holder)) if isinstance(holder, dict) else r.randrange(len(holder))
    action = r.randrange(4)
    if action == 0 and isinstance(holder, dict):
        del holder[key]
    elif action == 1 and isinstance(holder, dict):
        holder[r.choice(["", "extra", "a" * 1000, "\x00"])] = r.choice(NUMBERS)
    else:
        holder[key] = r.choice(NUMBERS)
    return value


def lying_header(data: bytes, r: random.Random) -> bytes:
    """A safetensors file whose header says something else about the same bytes."""
    length = struct.unpack("<Q", data[:8])[0]
    header = json.dumps(lie(json.loads(data[8 : 8 + length]), r)).encode()
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


def make_case(kind: str, number: int, good: Path, folder: Path) -> Path:
    """Build case `number` in `folder` -> the path to load."""
    r = random.Random(f"{kind} {number}")
    if kind == "gguf":
        path = folder / "m.gguf"
        path.write_bytes(damage((good / "m.gguf").read_bytes(), r))
        return path
    target = folder / "m"
    shutil.copytree(good / ("sharded" if kind == "index" else "m"), target)
    settings = r.choice(["tokenizer_config.json", "generation_config.json"])
    name = {
        "safetensors": "model.safetensors", "index": "model.safetensors.index.json",
        "config": "config.json", "tokenizer": "tokenizer.json", "settings": settings,
    }[kind]  # fmt: skip
    path = target / name
    data = path.read_bytes()
    if kind == "safetensors" and r.random() < 0.5:
        path.write_bytes(lying_header(data, r))
    elif kind != "safetensors" and r.random() < 0.7:
        path.write_text(json.dumps(lie(json.loads(data), r)))
    else:
        path.write_bytes(damage(data, r))
    return target


def try_one(path: Path) -> dict:
    """Load and run one token -> what happened; anything but LoadError is a finding."""
    import torch

    start = time.monotonic()
    try:
        model, tokenizer = minillm.load(path)
        ids = tokenizer.encode("ab 안녕")[:8] if tokenizer else [1]
        with torch.inference_mode():
            model(torch.tensor([i for i in ids if i < model.config.vocab_size] or [1]))
        result, text = "loaded", ""
    except LoadError as error:
        result, text = "refused", str(error)
    except ValueError as error:  # the tokenizer's own complaint about a text
        result, text = ("refused" if "tokenizers cannot" in str(error) else "crashed"), str(error)
    except BaseException as error:
        result, text = "crashed", f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - start
    return {"result": result, "text": text[:300], "length": len(text), "seconds": seconds}


def main(kind: str, first: str, count: str, good: str, work: str) -> None:
    import torch  # noqa: F401  its own address space is not the subject

    minillm.load(Path(good) / ("sharded" if kind == "index" else "m"))  # imports everything
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30),) * 2)
    for number in range(int(first), int(first) + int(count)):
        folder = Path(work) / f"{kind}-{number}"
        folder.mkdir(parents=True)
        line = {"number": number} | try_one(make_case(kind, number, Path(good), folder))
        print(json.dumps(line), flush=True)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
