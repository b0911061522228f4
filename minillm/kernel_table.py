"""Every kernel compiled for every card, on a machine without one: what it uses, what is wrong.

    python -m minillm.kernel_table [KERNEL ...]

A kernel is a file of kernels/ with a function builds(capability) that names what is compiled. The
exit code is 1 if one is over its card's limits, spills registers, or breaks a promise.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import tempfile
from collections.abc import Iterator, Sequence

CARDS = {75: "T4", 80: "A100", 89: "L4", 90: "H100, H200"}


def kernel_names() -> list[str]:
    """The files of kernels/, without .py; nothing is imported."""
    import minillm.kernels

    return sorted(m.name for m in pkgutil.iter_modules(minillm.kernels.__path__))


def rows(kernels: Sequence[str] = (), cards: Sequence[int] = tuple(CARDS)) -> Iterator:
    """Compile -> one kernel_build.Built after the other, kernel by kernel, card by card."""
    from minillm.kernel_build import compile_for

    unknown = set(kernels) - set(kernel_names())
    if unknown:
        names = ", ".join(kernel_names())
        raise SystemExit(f"no kernel {', '.join(sorted(unknown))}: there are {names}")
    for kernel in kernels or kernel_names():
        module = importlib.import_module(f"minillm.kernels.{kernel}")
        for capability in cards:
            for build in module.builds(capability):
                yield compile_for(kernel, build, capability)


def line(built) -> str:
    """One row in words."""
    where = f"sm_{built.capability} {CARDS[built.capability]:10} {built.kernel:16} {built.name:32}"
    uses = f"{built.shared / 1024:6.1f} KiB {built.registers:4d} reg {built.spilled:3d} spilled"
    return f"{where} {uses} {'mma' if built.mma else ''} {'; '.join(built.faults)}".rstrip()


def main(argv: list[str]) -> int:
    """Print the table -> 0 if nothing is wrong."""
    try:
        import triton
    except ImportError:
        print("Triton is not installed (there is none for macOS and Windows): nothing to compile")
        return 2
    count, wrong = 0, 0
    with tempfile.TemporaryDirectory(prefix="minillm-kernels-") as folder:
        os.environ["TRITON_CACHE_DIR"] = folder  # compiled now, not remembered
        for built in rows(argv):
            print(line(built), flush=True)
            count, wrong = count + 1, wrong + bool(built.faults)
    print(f"{count} compiled by triton {triton.__version__}, {wrong} with faults")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
