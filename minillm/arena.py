"""Where the matrices of a small model lie in memory: one buffer of huge pages.

A small model is read from the cache, so a cost shows that a large one hides: finding the address of
every page. Larger models are read at the memory's own pace; they stay as their file has them.
"""

from __future__ import annotations

import mmap

import torch
from torch import Tensor

LIMIT = 64 << 20  # bytes of all matrices: what a large last-level cache may hold
HUGE_PAGE = 2 << 20  # bytes


def gather(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Move the float32 CPU matrices of a small model into one buffer; names, shapes, values stay.

    Rows lie one after another, as few_rows.py wants them. Other tensors are returned as they are.
    """
    chosen = [n for n, t in tensors.items() if _is_matrix(t)]
    total = sum(tensors[n].numel() for n in chosen)
    if not chosen or total * 4 > LIMIT:
        return tensors
    buffer, at, moved = huge_buffer(total), 0, dict(tensors)
    for name in chosen:
        out, inner = tensors[name].shape
        place = buffer[at : at + out * inner].view(out, inner)
        moved[name], at = place.copy_(tensors[name]), at + out * inner
    return moved


def _is_matrix(tensor: Tensor) -> bool:
    return tensor.dim() == 2 and tensor.dtype == torch.float32 and tensor.is_cpu


def huge_buffer(numbers: int) -> Tensor:
    """Uninitialised float32 [numbers], in huge pages where the system has them.

    14 MB are 3,600 ordinary pages, more than a processor keeps the addresses of; 7 huge ones fit.
    """
    if not hasattr(mmap, "MADV_HUGEPAGE"):  # Linux only
        return torch.empty(numbers)
    memory = mmap.mmap(-1, numbers * 4 + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        memory.madvise(mmap.MADV_HUGEPAGE)
    except OSError:
        pass  # a kernel without them: ordinary pages do, more slowly
    whole = torch.frombuffer(memory, dtype=torch.float32)
    start = -whole.data_ptr() % HUGE_PAGE // 4
    return whole[start : start + numbers]
