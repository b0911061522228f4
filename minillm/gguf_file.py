"""A bounded reader of GGUF files: every count, length and offset is checked against the file.

Format: github.com/ggml-org/ggml, docs/gguf.md. magic, version, counts; key/value pairs; a table
of tensors; then the tensors' bytes, aligned. The file is mapped, not read: only the header and the
tensors that are asked for are ever touched.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from minillm.files import PICKLE_MAGIC, LoadError, open_file, refuse_pickle

MAX_DIMS, MAX_ALIGNMENT = 4, 1 << 16
# value type -> struct code; 8 is a string, 9 an array
SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
# tensor type -> (name, numbers a block, bytes a block)
TENSOR_TYPES = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 30: ("BF16", 1, 2), 28: ("F64", 1, 8),
    2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22), 7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110), 12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210),
}  # fmt: skip


@dataclass(frozen=True)
class GGUFTensor:
    """Where one tensor lies. shape: rows first, as torch has it (the file lists it reversed)."""

    name: str
    shape: tuple[int, ...]
    kind: int  # key of TENSOR_TYPES
    start: int  # bytes from the beginning of the file
    size: int  # bytes


class GGUFFile:
    """`metadata`: {key: value}; `tensors`: {name: GGUFTensor}; `array(name)`: fp32 numpy array."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        with open_file(self.path) as file:
            if file.read(4)[:2] in [m[:2] for m in PICKLE_MAGIC]:
                refuse_pickle(self.path)
            try:
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except (ValueError, OSError) as error:
                self._fail(f"cannot be mapped: {error}")
        self.at = 0
        self.metadata, self.tensors = {}, {}
        self._header()

    def array(self, name: str):
        """Tensor `name` as a float32 numpy array of its shape, dequantised block by block."""
        import numpy as np
        from gguf.constants import GGMLQuantizationType
        from gguf.quants import dequantize

        tensor = self.tensors[name]
        kind, _, block_bytes = TENSOR_TYPES[tensor.kind]
        raw = np.frombuffer(self.data, np.uint8, tensor.size, tensor.start)
        if kind in ("F32", "F16", "F64"):
            dtype = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}[kind]
            return raw.view(dtype).reshape(tensor.shape).astype(np.float32)
        together = math.gcd(tensor.size // block_bytes, 512)  # blocks a row: long rows are fast
        rows = raw.reshape(-1, together * block_bytes)
        return dequantize(rows, GGMLQuantizationType(tensor.kind)).reshape(tensor.shape)

    def _header(self) -> None:
        magic, version, num_tensors, num_pairs = self._unpack("<4sIQQ")
        if magic != b"GGUF":
            self._fail("does not begin with GGUF")
        if version not in (2, 3):
            self._fail(f"has version {version}; 2 and 3 are read (little-endian)")
        self._room(num_pairs, 13, "key/value pairs")
        for _ in range(num_pairs):
            key = self._string()
            if key in self.metadata:
                self._fail(f"has the key {key[:60]!r} twice")
            (kind,) = self._unpack("<I")
            self.metadata[key] = self._value(kind, key)
        self._room(num_tensors, 25, "tensors")
        infos = [self._tensor_info() for _ in range(num_tensors)]
        self._place(infos)

    def _place(self, infos) -> None:
        """Give every tensor its place in the file; none may overlap or leave it."""
        align = self.metadata.get("general.alignment", 32)
        if type(align) is not int or not 8 <= align <= MAX_ALIGNMENT or align & (align - 1):
            self._fail(f"has general.alignment {align!r}; a power of two from 8 is expected")
        base, end = -(-self.at // align) * align, 0
        for name, shape, kind, offset in sorted(infos, key=lambda info: info[3]):
            if kind not in TENSOR_TYPES:
                known = ", ".join(entry[0] for entry in TENSOR_TYPES.values())
                self._fail(f"stores {name!r} as type {kind}, which is not read (only {known})")
            kind_name, block, block_bytes = TENSOR_TYPES[kind]
            if shape[-1] % block:
                self._fail(f"stores {name!r} {shape} as {kind_name}: no multiple of {block}")
            size = math.prod(shape) // block * block_bytes
            if offset % align or offset < end or base + offset + size > len(self.data):
                self._fail(
                    f"says tensor {name!r} lies at {offset} with {size} bytes, which overlaps "
                    f"another, is not aligned, or goes beyond the file's {len(self.data)}: the "
                    "file is cut off or damaged, fetch it again"
                )
            if name in self.tensors:
                self._fail(f"has the tensor {name!r} twice")
            self.tensors[name] = GGUFTensor(name, shape, kind, base + offset, size)
            end = offset + size

    def _tensor_info(self):
        name = self._string()
        (num_dims,) = self._unpack("<I")
        if not 1 <= num_dims <= MAX_DIMS:
            self._fail(f"says tensor {name[:60]!r} has {num_dims} dimensions")
        shape = self._unpack(f"<{num_dims}Q")[::-1]
        kind, offset = self._unpack("<IQ")
        if not all(0 < size < 1 << 40 for size in shape):
            self._fail(f"says tensor {name[:60]!r} has the shape {shape}")
        return name, shape, kind, offset

    def _value(self, kind: int, key: str):
        if kind in SCALARS:
            return self._unpack("<" + SCALARS[kind])[0]
        if kind == STRING:
            return self._string()
        if kind != ARRAY:
            self._fail(f"has {key[:60]!r} of the unknown type {kind}")
        item, count = self._unpack("<IQ")
        if item == STRING:
            self._room(count, 8, f"strings in {key[:60]!r}")
            return [self._string() for _ in range(count)]
        if item not in SCALARS:
            self._fail(f"has {key[:60]!r}, an array of type {item} (arrays of arrays are not read)")
        self._room(count, struct.calcsize("<" + SCALARS[item]), f"numbers in {key[:60]!r}")
        return list(self._unpack(f"<{count}{SCALARS[item]}"))

    def _string(self) -> str:
        (length,) = self._unpack("<Q")
        self._room(length, 1, "bytes of a string")
        self.at += length
        try:
            return self.data[self.at - length : self.at].decode("utf-8")
        except UnicodeDecodeError:
            self._fail(f"has a string at byte {self.at - length} that is not UTF-8")

    def _unpack(self, code: str) -> tuple:
        size = struct.calcsize(code)
        self._room(size, 1, "bytes")
        self.at += size
        return struct.unpack_from(code, self.data, self.at - size)

    def _room(self, count: int, size: int, what: str) -> None:
        """Refuse a count that the rest of the file could not hold."""
        if count * size > len(self.data) - self.at:
            self._fail(f"announces {count} {what} at byte {self.at} of {len(self.data)}: cut off "
                       "or damaged, fetch it again")  # fmt: skip

    def _fail(self, what: str):
        raise LoadError(f"{self.path} is not a GGUF file we can read: it {what}")
