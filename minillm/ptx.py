"""What a Triton kernel becomes on a card that need not be there: compiled in a process of its own.

    from minillm import ptx
    ptx.compiled(kernel, {"x_ptr": "*fp32", "n": "i32"}, {"BLOCK": 1024}, capability=75)

A process that runs kernels in the interpreter cannot compile them: Triton decides at its import.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

HEAD = "import triton\nimport triton.language as tl\n\n\n"
TIMEOUT_S = 120


def compiled(kernel, types: dict[str, str], constants: dict[str, int], capability: int = 75):
    """Compile a @triton.jit function -> {"lines", "instructions", "registers", "shared", "ptx"}.

    types: argument -> "*fp32", "i32" ...; constants: the tl.constexpr arguments. registers: of a
    thread; shared: bytes of a program. The kernel may use triton and tl, nothing else of its file.
    None where there is no Triton. RuntimeError with the compiler's last words.
    """
    if find_spec("triton") is None:
        return None
    source = HEAD + inspect.getsource(kernel.fn)
    return compiled_text(source, kernel.__name__, types, constants, capability)


def compiled_text(source: str, name: str, types: dict, constants: dict, capability: int = 75):
    """compiled(), for the kernel of this name in a file's text."""
    job = {"source": source, "name": name, "types": types, "constants": constants}
    others = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    root = str(Path(__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "minillm.ptx"], input=json.dumps(job | {"capability": capability}),
        env=others | {"PYTHONPATH": root}, capture_output=True, text=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name} does not compile: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def instructions(ptx: str) -> list[str]:
    """The lines of PTX that the card executes: no declarations, labels, comments."""
    lines = (line.strip() for line in ptx.splitlines())
    return [line for line in lines if line.endswith(";") and re.match(r"[a-z@]", line)]


def _compile(job: dict, folder: Path) -> dict:
    """In the process of its own."""
    import importlib.util

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    path = folder / "kernel_source.py"
    path.write_text(job["source"], encoding="utf-8")
    found = importlib.util.spec_from_file_location("kernel_source", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    kernel = getattr(module, job["name"])
    types = {**job["types"], **dict.fromkeys(job["constants"], "constexpr")}
    ordered = {name: types[name] for name in kernel.arg_names}
    target = GPUTarget("cuda", job["capability"], 32)
    made = triton.compile(ASTSource(kernel, ordered, job["constants"]), target=target)
    (folder / "kernel.cubin").write_bytes(made.asm["cubin"])
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    command = [str(tool), "--dump-resource-usage", str(folder / "kernel.cubin")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = made.asm["ptx"]
    return {
        "lines": sum(bool(line.strip()) for line in text.splitlines()),
        "instructions": len(instructions(text)),
        "registers": int(re.search(r"REG:(\d+)", said)[1]),
        "shared": made.metadata.shared,
        "ptx": text,
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(_compile(json.load(sys.stdin), Path(place))))
