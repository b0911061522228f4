"""Facts about this computer that speed depends on: caches, memory, and how fast bytes move."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
ASSUMED_CACHE = 64 * 2**20  # bytes; stands in for a last-level cache that nobody tells us
CACHE_MULTIPLE = 4  # a buffer this many times the cache is measured in memory, not in the cache
FEATURES = {  # our name: how Linux and macOS call it
    "avx2": ("avx2", "hw.optional.avx2_0"),
    "avx512f": ("avx512f", "hw.optional.avx512f"),
    "avx512_vnni": ("avx512_vnni", "hw.optional.avx512vnni"),
    "avx512_bf16": ("avx512_bf16", "hw.optional.avx512bf16"),
    "amx": ("amx_tile", "hw.optional.amx_tile"),
}


def _read(path: str | Path) -> str:
    """Text of a file of the system, '' when it is not there or may not be read."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def _sysctl(name: str) -> str:
    """Value of a macOS setting, '' anywhere else."""
    if sys.platform != "darwin":
        return ""
    try:
        command = ["sysctl", "-n", name]
        return subprocess.run(command, capture_output=True, text=True, timeout=2).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def cpu_model() -> str:
    """Marketing name of the processor, or 'unknown'."""
    found = re.search(r"^model name\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.M)
    name = found[1] if found else _sysctl("machdep.cpu.brand_string") or platform.processor()
    return name.strip() or "unknown"


def cpu_features() -> dict[str, bool | str]:
    """Which vector instructions the processor has: True, False, or 'unknown' where unreadable."""
    found = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", _read("/proc/cpuinfo"), re.M)
    if found:
        flags = set(found[1].split())
        return {name: linux in flags for name, (linux, _) in FEATURES.items()}
    if sys.platform == "darwin":  # a setting that does not exist is a feature that does not
        return {name: _sysctl(mac) == "1" for name, (_, mac) in FEATURES.items()}
    return dict.fromkeys(FEATURES, "unknown")


def last_level_cache() -> int | None:
    """Bytes of the largest cache that core 0 reads through, None when the system does not say."""
    sizes = []
    for index in sorted(CACHES.glob("index*")):
        found = re.fullmatch(r"(\d+)([KMG]?)", _read(index / "size").strip())
        if found and _read(index / "type").strip() != "Instruction":
            sizes.append(int(found[1]) * {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}[found[2]])
    for name in ("hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize"):
        if not sizes and _sysctl(name).isdigit():
            sizes.append(int(_sysctl(name)))
    return max(sizes, default=0) or None


def cpu_count() -> int:
    """Cores that this process may use: containers and taskset often grant fewer than there are."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1


def memory() -> tuple[int, int]:
    """(total, available) bytes of main memory, a container's limit respected; 0 is unknown."""
    try:
        import psutil

        found = psutil.virtual_memory()
        total, available = int(found.total), int(found.available)
    except (ImportError, OSError, AttributeError, RuntimeError):
        return 0, 0
    limits = [
        _read("/sys/fs/cgroup/memory.max"),
        _read("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
    ]
    for limit in (int(text) for text in limits if text.strip().isdigit()):
        total, available = min(total, limit), min(available, limit)
    return total, available


def total_memory() -> int:
    """Bytes of main memory, or of a container's share of it; 0 is unknown."""
    return memory()[0]


@dataclass(frozen=True)
class Bandwidth:
    """One measured speed of moving bytes; the best of `tries`, since a bound is wanted."""

    what: str  # which bytes were counted
    bytes_per_second: float
    buffer_bytes: int  # of one buffer
    outside_cache: bool  # the buffer is at least CACHE_MULTIPLE x the last-level cache
    tries: int


def buffer_size(device: str = "cpu") -> tuple[int, bool]:
    """(bytes of one buffer, whether it is 4x the last-level cache), within an eighth of memory."""
    import torch

    if device == "cpu":
        cache, free = last_level_cache() or ASSUMED_CACHE, memory()[1] or 2**31
    else:
        cache = getattr(torch.cuda.get_device_properties(device), "L2_cache_size", 0)
        cache, free = cache or ASSUMED_CACHE, torch.cuda.mem_get_info(device)[0]
    wanted = max(CACHE_MULTIPLE * cache, 64 * 2**20)
    size = min(wanted, free // 8) // 2**20 * 2**20
    return max(size, 2**20), size >= CACHE_MULTIPLE * cache


def _best_seconds(work: Callable, device: str, budget_s: float) -> tuple[float, int]:
    """Shortest time of `work` in budget_s, at least 3 tries after one that is not counted."""
    import torch

    sync = torch.cuda.synchronize if device != "cpu" else (lambda: None)
    best, tries, began = float("inf"), 0, time.perf_counter()
    work()
    while tries < 3 or time.perf_counter() - began < budget_s:
        sync()
        start = time.perf_counter()
        work()
        sync()
        best, tries = min(best, time.perf_counter() - start), tries + 1
    return best, tries


def copy_bandwidth(device: str = "cpu", budget_s: float = 0.4) -> Bandwidth:
    """Speed of copying one large buffer to another: bytes read plus bytes written."""
    import torch

    size, outside = buffer_size(device)
    source = torch.ones(size // 4, device=device)
    target = torch.empty_like(source).copy_(source)  # touched once: its pages exist now
    seconds, tries = _best_seconds(lambda: target.copy_(source), device, budget_s)
    return Bandwidth("copy: bytes read + bytes written", 2 * size / seconds, size, outside, tries)


def read_bandwidth(device: str = "cpu", budget_s: float = 0.4) -> Bandwidth:
    """Speed of reading one large buffer: the bound of decoding, which reads every weight once.

    The better of a sum and of looking for the largest, since either may be held up by arithmetic.
    On a CPU in huge pages where the system has them: with ordinary ones a third of the time goes
    into finding addresses, and how much differs from run to run.
    """
    import torch

    from minillm.arena import huge_buffer

    size, outside = buffer_size(device)
    on_cpu = torch.device(device).type == "cpu"
    buffer = (huge_buffer(size // 4) if on_cpu else torch.empty(size // 4, device=device)).fill_(1)
    runs = [_best_seconds(work, device, budget_s / 2) for work in (buffer.sum, buffer.amax)]
    seconds, tries = min(runs)
    read = buffer.numel() * 4
    return Bandwidth("read: bytes read only", read / seconds, size, outside, tries)
