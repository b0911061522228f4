"""Plain data as bytes and back: what a child may say to its parent. Nothing in it is ever executed.

A message is a JSON header and the raw bytes of its tensors and arrays. Only exact types travel:
None, bool, int, float, str, bytes, list, tuple, dict, set, tensors and NumPy arrays. Everything
else, subclasses with an == of their own included, arrives as Other(type name).
"""

from __future__ import annotations

import json
import math
import struct
import sys
from dataclasses import dataclass
from typing import Any

MAGIC = b"MLW1"
MAX_DEPTH = 60
MAX_DIMS = 16
ITEM_BYTES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "uint16": 2, "uint32": 4, "uint64": 8, "float16": 2, "bfloat16": 2, "float32": 4,
    "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1, "complex64": 8, "complex128": 16,
}  # fmt: skip
_TORCH_ONLY = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


class WireError(ValueError):
    """Bytes that are no message, or data that does not fit into one."""


@dataclass(frozen=True)
class Other:
    """Stands for a value that is not plain data."""

    type: str

    def __repr__(self) -> str:
        return f"<{self.type}>"


def encode(value) -> bytes:
    """A message that holds `value`; WireError if it is nested too deeply (or in itself)."""
    blobs: list[bytes] = []
    tree = _pack(value, blobs, 0)
    header = json.dumps({"v": tree, "b": [len(b) for b in blobs]}).encode("ascii")
    return b"".join([MAGIC, struct.pack("<Q", len(header)), header, *blobs])


def visible(text: str) -> str:
    """`text` as a terminal may show it: control characters and half surrogates are escaped."""
    fine = lambda c: c.isprintable() or c in "\n\t"
    return "".join(c if fine(c) else c.encode("unicode_escape").decode() for c in text)


def type_name(value) -> str:
    """The type for a message: "generator", "numpy.matrix", "torch.nn.parameter.Parameter"."""
    kind = type(value)
    where = kind.__module__
    return kind.__qualname__ if where in ("builtins", "answer") else f"{where}.{kind.__qualname__}"


def _pack(value, blobs: list[bytes], depth: int):
    if depth > MAX_DEPTH:
        raise WireError(f"nested more than {MAX_DEPTH} levels deep")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if abs(value) < 2**53 else {"i": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"f": str(value)}
    if kind is bytes:
        return {"y": _blob(value, blobs)}
    if kind is list:
        return [_pack(item, blobs, depth + 1) for item in value]
    if kind is tuple:
        return {"t": [_pack(item, blobs, depth + 1) for item in value]}
    if kind is dict:
        pairs = [[_pack(k, blobs, depth + 1), _pack(v, blobs, depth + 1)] for k, v in value.items()]
        return {"d": pairs}
    if kind in (set, frozenset):
        # in an order that is the same in every process
        return {"s": sorted((_pack(item, blobs, depth + 1) for item in value), key=json.dumps)}
    return _pack_array(value, blobs, depth)


def _pack_array(value, blobs: list[bytes], depth: int):
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    kind = type(value)
    if torch and kind is torch.Size:
        return _pack(tuple(value), blobs, depth)
    if torch and kind in (torch.Tensor, torch.nn.Parameter):
        packed = _tensor_bytes(torch, value)
        if packed:
            name, raw = packed
            return {"T": [_blob(raw, blobs), name, list(value.shape)]}
    if numpy and (kind is numpy.ndarray or isinstance(value, numpy.generic)):
        if str(value.dtype) in ITEM_BYTES and value.dtype.isnative:
            key = "N" if kind is numpy.ndarray else "n"
            return {key: [_blob(value.tobytes(), blobs), str(value.dtype), list(value.shape)]}
    return {"o": type_name(value)[:200]}


def _tensor_bytes(torch, tensor) -> tuple[str, bytes] | None:
    """(dtype, raw bytes); None for what has no plain bytes: sparse, quantised, meta."""
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in ITEM_BYTES or tensor.layout is not torch.strided or tensor.device.type == "meta":
        return None
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    # contiguous() would keep the stride of a dimension of length 1, and view() refuses that
    flat = plain.clone(memory_format=torch.contiguous_format).reshape(-1)
    return name, flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def _blob(raw: bytes, blobs: list[bytes]) -> int:
    blobs.append(raw)
    return len(blobs) - 1


def decode(message: bytes):
    """The value of a message; WireError for anything whose sizes, types or names do not agree."""
    try:
        return _decode(message)
    except WireError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError) as error:
        raise WireError(f"not a message: {type(error).__name__}: {error}") from None


def _decode(message: bytes):
    if len(message) < 12 or message[:4] != MAGIC:
        raise WireError("not a message: wrong first bytes")
    (size,) = struct.unpack("<Q", message[4:12])
    if size > len(message) - 12:
        raise WireError(f"the header claims {size} bytes, {len(message) - 12} follow")
    header = json.loads(bytes(message[12 : 12 + size]).decode("ascii"))
    if type(header) is not dict or set(header) != {"v", "b"} or type(header["b"]) is not list:
        raise WireError("the header has other keys")
    blobs, at = [], 12 + size
    for length in header["b"]:
        if type(length) is not int or not 0 <= length <= len(message) - at:
            raise WireError(f"a part claims {length} bytes, {len(message) - at} are left")
        blobs.append(bytes(message[at : at + length]))
        at += length
    if at != len(message):
        raise WireError(f"{len(message) - at} bytes too many")
    return _unpack(header["v"], blobs, 0)


def _unpack(node, blobs: list[bytes], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise WireError(f"nested more than {MAX_DEPTH} levels deep")
    if node is None or type(node) in (bool, str, int, float):
        return node
    if type(node) is list:
        return [_unpack(item, blobs, depth + 1) for item in node]
    if type(node) is not dict or len(node) != 1:
        raise WireError("a part of no known kind")
    ((key, body),) = node.items()
    if key in ("t", "s", "d"):
        if type(body) is not list:
            raise WireError(f"{key} holds no list")
        return _unpack_many(key, body, blobs, depth + 1)
    if key in ("T", "N", "n"):
        return _unpack_array(key, body, blobs)
    if key == "y":
        return blobs[_index(body, blobs)]
    if key in ("i", "f", "o") and type(body) is str:
        return {"i": lambda t: int(t, 16), "f": float, "o": Other}[key](body)
    raise WireError(f"a part of the unknown kind {key!r}")


def _unpack_many(key: str, body: list, blobs: list[bytes], depth: int):
    if key == "d":
        return {_unpack(k, blobs, depth): _unpack(v, blobs, depth) for k, v in body}
    values = [_unpack(item, blobs, depth) for item in body]
    return tuple(values) if key == "t" else set(values)


def _index(number, blobs: list[bytes]) -> int:
    if type(number) is not int or not 0 <= number < len(blobs):
        raise WireError(f"part {number} of {len(blobs)}")
    return number


def _unpack_array(key: str, body, blobs: list[bytes]):
    number, name, shape = body
    raw = blobs[_index(number, blobs)]
    if type(name) is not str or name not in ITEM_BYTES:
        raise WireError(f"no dtype {name!r}")
    if type(shape) is not list or len(shape) > MAX_DIMS:
        raise WireError(f"no shape: {str(shape)[:80]}")
    if any(type(n) is not int or not 0 <= n < 2**40 for n in shape):
        raise WireError(f"no shape: {str(shape)[:80]}")
    if math.prod(shape) * ITEM_BYTES[name] != len(raw):
        raise WireError(f"{name}{shape} does not fit into {len(raw)} bytes")
    if key == "T":
        return _to_tensor(name, shape, raw)
    if name in _TORCH_ONLY:
        raise WireError(f"NumPy has no {name}")
    import numpy

    array = numpy.frombuffer(bytearray(raw), dtype=name).reshape(shape)
    if key == "n" and shape:
        raise WireError("a number has no shape")
    return array if key == "N" else array[()]


def _to_tensor(name: str, shape: list[int], raw: bytes):
    import torch

    dtype = getattr(torch, name)
    if not raw:
        return torch.empty(shape, dtype=dtype)
    numbers = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
    return (numbers != 0 if dtype is torch.bool else numbers.view(dtype)).reshape(shape)
