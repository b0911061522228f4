"""Limits of a child: set inside it where the system can, watched from outside everywhere."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass

GIB = 2**30


@dataclass(frozen=True)
class Limits:
    """What one run of an answer may use."""

    cpu_s: float = 20.0  # seconds of work, after the imports
    wall_s: float = 90.0  # generous: a busy machine is not the answer's fault
    memory: int = 3 * GIB  # bytes on top of what Python and torch hold
    printed: int = 16 * 2**20  # bytes of prints
    result: int = GIB // 2  # bytes of the result


def apply(limits: Limits) -> None:
    """Set this process's own limits, where there is a way (Linux; in part macOS)."""
    try:
        import resource
    except ImportError:  # Windows: the parent watches
        return
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    seconds = int(used + limits.cpu_s) + 2  # the parent is first and says it better
    _lower(resource, resource.RLIMIT_CPU, seconds, spare=5)  # SIGXCPU first, then SIGKILL
    _lower(resource, resource.RLIMIT_CORE, 0)
    if sys.platform == "linux":
        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * resource.getpagesize()
        _lower(resource, resource.RLIMIT_AS, mapped + limits.memory)


def _lower(resource, kind: int, value: int, spare: int = 0) -> None:
    old = resource.getrlimit(kind)[1]
    hard = value + spare
    if old != resource.RLIM_INFINITY:
        hard = min(hard, old)
    try:
        resource.setrlimit(kind, (min(value, hard), hard))
    except (OSError, ValueError):  # not allowed here: the parent watches too
        pass


def usage(pid: int) -> tuple[float, int] | None:
    """(CPU seconds, resident bytes) of a process and what it started; None if it is gone."""
    import psutil

    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return None
    cpu, memory = 0.0, 0
    for member in family:
        try:
            times = member.cpu_times()
            cpu += times.user + times.system
            memory += member.memory_info().rss
        except psutil.Error:
            continue
    return cpu, memory


def end_tree(pid: int) -> None:
    """End a process, its process group and everything it started."""
    import psutil

    try:
        family = psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        family = []
    end_group(pid)
    for member in family:
        try:
            member.kill()
        except psutil.Error:
            pass


def end_group(pid: int) -> None:
    """Kill the process group that `pid` leads (on Windows the process)."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)  # Windows: TerminateProcess
    except (OSError, PermissionError):
        pass
