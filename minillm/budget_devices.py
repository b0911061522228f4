"""The devices a plan can be for: published GPUs, a given memory, and this machine. No torch."""

from __future__ import annotations

import math
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from minillm import machine
from minillm.config import ConfigError
from minillm.files import read_json

DEVICES = Path(__file__).parent / "assets" / "devices.json"
UNITS = {
    "": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
COUNTS = {"": 1, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
MOST_BYTES = 1e15  # a petabyte: a slip of the keyboard, not a device
LEAST_BYTES = 1e6  # less is a number whose unit was forgotten
SLACK = 0.1  # of the memory, kept free; the engine's own memory_fraction is 0.9


@dataclass(frozen=True)
class Gpu:
    """Memory, and what speed is predicted from; None where it is not known."""

    name: str
    memory: float  # bytes
    bandwidth: float | None = None  # bytes per second
    peak: float | None = None  # FLOP per second, in `dtype`
    launch: float = 0.0  # seconds to start one operation
    capability: tuple[int, int] | None = None  # of CUDA
    slack: float = SLACK  # share of the memory that is kept free
    source: str = "as given"
    dtype: str = "16 bit"  # what the peak multiplies: "16 bit", "fp32" or "any"
    measured: bool = False  # here, and not published

    @property
    def usual(self) -> str:
        """The 16-bit format it multiplies in: bf16, fp16 where it has no bf16 arithmetic."""
        return "bf16" if self.capability is None or self.capability >= (8, 0) else "fp16"


def known_gpus() -> dict[str, Gpu]:
    """{name: Gpu} of all devices that we have published figures for."""
    found = {}
    for row in read_json(DEVICES)["devices"]:
        row["capability"] = row["capability"] and tuple(row["capability"])
        found[row["name"]] = Gpu(**row)
    return found


def find_gpu(name: str) -> Gpu:
    """A known device; upper case, blanks and "NVIDIA" do not matter. ConfigError: lists them."""
    plain = lambda text: re.sub(r"nvidia|geforce|tesla|[^a-z0-9]", "", text.lower())
    known = known_gpus()
    for key, gpu in known.items():
        if plain(key) == plain(name):
            return gpu
    several = [key for key in known if plain(name) and plain(key).startswith(plain(name))]
    if len(several) == 1:
        return known[several[0]]
    many = f" could be {' or '.join(several)};" if several else " is not known:"
    raise ConfigError(
        f"gpu {name[:60]!r}{many} give one of {', '.join(known)}, or its figures: --memory 48GB "
        "--bandwidth 900GB --peak 150e12"
    )


def this_machine() -> Gpu:
    """The first NVIDIA GPU if its driver tells of one, else main memory that is free now.

    Speed is unknown here: it is measured (minillm/budget_check.py) when it is asked for.
    """
    for line in _nvidia_smi().splitlines()[:1]:
        name, _, mib = line.rpartition(",")
        if mib.strip().isdigit():
            return _like_known(name.strip(), int(mib) * 2**20)
    free = machine.memory()[1]
    if not free:
        raise ConfigError("this machine does not tell its memory: give --memory 16GB or --gpu NAME")
    return Gpu("this machine's main memory, what is free of it", free, source="the system")


def _nvidia_smi() -> str:
    command = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _like_known(name: str, memory: int) -> Gpu:
    """A GPU as its driver names it, with the published speed of the known one that it is."""
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    for key, gpu in known_gpus().items():
        wanted = {word for word in key.lower().split("-") if not word.endswith("gb")}
        other = "SXM" in gpu.source and words & {"pcie", "nvl"}  # the same chip, slower memory
        if wanted <= words and abs(memory / gpu.memory - 1) < 0.15 and not other:
            source = f"memory: its driver; speed: {gpu.source}"
            return replace(gpu, name=name, memory=memory, source=source)
    return Gpu(name, memory, source="memory: its driver; its speed is not in our table")


def read_bytes(text: str, name: str) -> float:
    """ "80GB", "80 GiB", "80e9" -> bytes. Raises ConfigError for what is no size of a device."""
    found = _number(text, UNITS, name, "such as 80GB (1e9 bytes each) or 80GiB (2^30)")
    if not 1 <= found <= MOST_BYTES:
        raise ConfigError(f"{name} must be from 1MB to {MOST_BYTES:.0e} bytes, got {text[:40]}")
    _has_unit(found, text, name, "GB")
    return found


def _has_unit(found: float, text: str, name: str, also: str) -> None:
    """ConfigError, with what was meant, for a size that no device has."""
    if found < LEAST_BYTES:
        number = re.match(r"[-+0-9.eE]*[0-9.]", text.strip())[0]
        unit = "GB" if float(number) < 4096 else "MB"  # 16384 was thought in MB
        meant = f"{number}{unit}" + also.removeprefix("GB").format(number)
        each = " a second" if name == "bandwidth" else ""
        raise ConfigError(f"{name} {text[:40]} is {found:,.6g} bytes{each}: write {meant}")


def read_count(text: str, name: str) -> int:
    """ "70e9", "70B", "0.6b" -> 70000000000."""
    return round(_number(text, COUNTS, name, "such as 70e9 or 70B"))


def read_slack(text: str, memory: float) -> float:
    """ "10%" or "8GB" -> bytes of a device with this memory."""
    if text.strip().endswith("%"):
        share = _number(text.strip()[:-1], {"": 1}, "slack", "such as 10% or 8GB") / 100
        slack = share * memory
    else:
        slack = _number(text, UNITS, "slack", "such as 10% or 8GB")
        if slack:
            _has_unit(slack, text, "slack", "GB or {}%")
    if not slack < memory:
        raise ConfigError(f"slack of {text[:40]} leaves nothing of {memory / 1e9:.1f} GB")
    return slack


def _number(text: str, units: dict, name: str, example: str) -> float:
    found = re.fullmatch(r"\s*([-+0-9.eE]*?[0-9.])\s*([a-zA-Z]*)\s*", text)
    unit = found and found[2].lower()
    try:
        value = float(found[1]) * units[unit]
    except (TypeError, ValueError, KeyError):
        raise ConfigError(f"{name} must be a number {example}, got {text[:40]!r}") from None
    if not (math.isfinite(value) and value >= 0):
        raise ConfigError(f"{name} must be a finite number above 0, got {text[:40]!r}")
    return value
