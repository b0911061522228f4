"""Whether a Triton kernel can run on a device, and what it needs to know of it. No triton here.

The choice is a table by compute capability and number format: never a timing, never a guess by
torch (`torch.cuda.is_bf16_supported()` says yes on a T4, which has no bf16 units).
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os

import torch

OLDEST = 75  # Turing (T4): the oldest card that the kernels are compiled for
# Multiprocessors of the usual card of a capability: how many programs keep it busy.
# NVIDIA data sheets: T4 40, A100 108, A10 72, L4 58, H100/H200 SXM 132, B200 148.
MULTIPROCESSORS = {75: 40, 80: 108, 86: 72, 89: 58, 90: 132, 100: 148}


def capability_of(device: torch.device | str) -> int:
    """Compute capability as a whole number, 75 for 7.5.

    On a CPU kernels run in the interpreter, with the tiles of the card that MINILLM_CAPABILITY
    names (80 if it is not set).
    """
    device = torch.device(device)
    if device.type != "cuda":
        return int(os.environ.get("MINILLM_CAPABILITY", "80"))
    return _capability(torch.cuda.current_device() if device.index is None else device.index)


@functools.cache
def _capability(index: int) -> int:
    major, minor = torch.cuda.get_device_capability(index)
    return 10 * major + minor


def multiprocessors(capability: int) -> int:
    """Of the usual card: the nearest entry of the table that is not newer."""
    known = [c for c in MULTIPROCESSORS if c <= capability]
    return MULTIPROCESSORS[max(known, default=min(MULTIPROCESSORS))]


def has_bf16(capability: int) -> bool:
    """Ampere and newer multiply bf16; a T4 does not."""
    return capability >= 80


def has_tensor_dot(capability: int) -> bool:
    """Triton's tl.dot uses the tensor cores from Ampere on; on a T4 it computes without them."""
    return capability >= 80


def missing(capability: int, dtype: torch.dtype) -> str | None:
    """Why kernels cannot run for this card and format, in words; None: they can."""
    if importlib.util.find_spec("triton") is None:
        return "Triton is not installed (there is none for macOS and Windows)"
    if capability < OLDEST:
        return f"compute capability {capability / 10} is older than {OLDEST / 10}"
    if dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return f"the kernels take fp32, fp16 and bf16, not {str(dtype).removeprefix('torch.')}"
    if dtype == torch.bfloat16 and not has_bf16(capability):
        return f"compute capability {capability / 10} has no bf16: use fp16"
    return None


def find(name: str, x: torch.Tensor):
    """The kernel's Python function, or None where it cannot run on x."""
    if not x.is_cuda:
        return None
    module = _module(name, capability_of(x.device), x.dtype)
    return getattr(module, name) if module and module.fits(x) else None


@functools.cache
def _module(name: str, capability: int, dtype: torch.dtype):
    if missing(capability, dtype):
        return None
    return importlib.import_module(f"minillm.kernels.{name}")


def power_of_two(number: int) -> int:
    """The smallest power of two that is at least `number`."""
    return 1 << max(number - 1, 0).bit_length()
