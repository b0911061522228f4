"""One kernel compiled ahead of time for a card that need not be there: what it needs and uses.

triton.compile gives only the shared memory; registers and spills are read out of the machine code
by the cuobjdump that Triton brings along. Nothing here imports triton until it compiles.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

# Shared memory that one program may use, bytes: CUDA C++ Programming Guide, table of technical
# specifications per compute capability.
SHARED_LIMIT = {75: 64 * 1024, 80: 163 * 1024, 89: 99 * 1024, 90: 227 * 1024}


@dataclass(frozen=True)
class Build:
    """A kernel with everything fixed that its compilation depends on."""

    name: str
    fn: object  # the @triton.jit function
    types: dict[str, str]  # pointer or number argument -> type; arguments left out are i32
    constants: dict[str, object]  # the tl.constexpr arguments
    num_warps: int = 4
    num_stages: int = 2
    mma: bool = False  # tensor core instructions are promised
    wide: tuple[str, ...] = ()  # pointers whose offsets must be 64 bits wide

    def signature(self) -> dict[str, str]:
        """Argument -> Triton's type: "*fp16" for names that end in _ptr, i32 where not named."""
        found = {}
        for name in self.fn.arg_names:
            kind = "constexpr" if name in self.constants else self.types.get(name, "i32")
            if name.startswith(("scale", "eps")):
                kind = "fp32"
            found[name] = f"*{kind}" if name.endswith("_ptr") else kind
        return found


@dataclass(frozen=True)
class Built:
    """What came out of one compilation."""

    kernel: str
    name: str
    capability: int
    shared: int  # bytes
    registers: int  # a thread
    spilled: int  # bytes a thread, in local memory
    mma: bool
    types: tuple[str, ...]
    faults: tuple[str, ...] = field(default=())


def compile_for(kernel: str, build: Build, capability: int) -> Built:
    """Compile one build and judge it against the card's limits."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature = build.signature()
    even = [["tt.divisibility", 16]]
    attrs = {
        (place,): even
        for place, name in enumerate(build.fn.arg_names)
        if name.endswith("_ptr") or name.startswith("stride")
    }
    source = ASTSource(build.fn, signature, build.constants, attrs)
    options = {"num_warps": build.num_warps, "num_stages": build.num_stages}
    done = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    registers, spilled = usage(done.asm["cubin"])
    mma = bool(re.search(r"\bw?g?mma\b", done.asm["ptx"]))
    built = Built(kernel, build.name, capability, done.metadata.shared, registers, spilled, mma,
                  tuple(sorted({t for t in signature.values() if t != "constexpr"})))  # fmt: skip
    return Built(**{**vars(built), "faults": tuple(faults(built, build, done.asm["ttir"]))})


def faults(built: Built, build: Build, ttir: str) -> list[str]:
    """What is wrong with a compiled kernel, in words."""
    found, limit = [], SHARED_LIMIT[built.capability]
    if built.shared > limit:
        found.append(f"{built.shared} bytes of shared memory, the card has {limit}")
    if built.spilled:
        found.append(f"{built.spilled} bytes a thread spilled")
    if built.capability < 80 and "*bf16" in built.types:
        found.append("bf16 on a card without bf16")
    if built.capability < 80 and " tt.dot " in ttir:
        found.append("tl.dot on a card where it does not use the tensor cores")
    if built.mma != build.mma:
        found.append(f"tensor cores {'not ' if build.mma else ''}used, against the promise")
    found += [f"{name}: 32-bit offsets" for name in build.wide if not _is_wide(name, ttir)]
    return found


def _is_wide(pointer: str, ttir: str) -> bool:
    """Whether everything added to this pointer is 64 bits wide, in Triton's first representation.

    A pointer is splat to a tensor and then added to; offsets that vary are its second operand.
    """
    splats = re.findall(rf"(%\S+) = tt\.splat %{pointer}\b", ttir)
    added = [
        line
        for name in (f"%{pointer}", *splats)
        for line in re.findall(rf"tt\.addptr {re.escape(name)}, .*", ttir)
    ]
    return bool(added) and all(re.search(r"i64>?( loc|$)", line) for line in added)


def usage(cubin: bytes) -> tuple[int, int]:
    """(registers, spilled bytes) a thread of the one kernel in a cubin; from cuobjdump."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        command = [str(cuobjdump()), "--dump-resource-usage", str(path)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"REG:(\d+) STACK:(\d+) .*LOCAL:(\d+)", said)
    assert found, f"cuobjdump said: {said!r}"
    return int(found[1]), int(found[2]) + int(found[3])


def cuobjdump() -> Path:
    """The one that Triton brings along."""
    import triton

    return Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
