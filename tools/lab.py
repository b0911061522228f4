"""Opens the course in JupyterLab: checks disk and port first, and registers the kernel `minillm`.

Run by `make lab`; its arguments go on to JupyterLab (`make lab ARGS="--no-browser --port=9000"`).
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEFAULT_PORT = 8888
PORTS_TRIED = 50
NEEDED_MB = 100  # below this JupyterLab loses notebooks while saving them


class LabError(Exception):
    """JupyterLab cannot be opened; the message says what to do."""


def check_installed() -> None:
    """Raise when JupyterLab or the kernel is missing from this Python."""
    from importlib.util import find_spec

    missing = [name for name in ("jupyterlab", "ipykernel", "minillm") if find_spec(name) is None]
    if missing:
        raise LabError(f"{', '.join(missing)} is not installed here. Run `make setup`.")


def check_disk(folders: list[Path], needed_mb: int = NEEDED_MB) -> None:
    """Raise when a folder that JupyterLab writes to is full or not writable."""
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            free_mb = shutil.disk_usage(folder).free // 2**20
            with tempfile.TemporaryFile(dir=folder) as file:
                file.write(b"x" * 4096)
                file.flush()
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise LabError(f"cannot write in {folder}: {error.strerror}. Allow it.") from None
            free_mb = 0
        if free_mb < needed_mb:
            raise LabError(
                f"the disk of {folder} is full: {free_mb} MB free, {needed_mb} needed. Make room "
                "(`pip cache purge` often frees gigabytes) and run `make lab` again."
            )


def port_problem(port: int, host: str = "127.0.0.1") -> str:
    """Why a port cannot be had ('' when it can)."""
    with socket.socket() as probe:
        if os.name != "nt":  # as Jupyter does: a port just closed counts as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except PermissionError:
            return "not allowed"
        except (OSError, OverflowError):
            return "taken"
    return ""


def take_port(arguments: list[str]) -> tuple[int, list[str]]:
    """The port asked for (8888 when none is), and the other arguments."""
    port, others, rest = str(DEFAULT_PORT), [], iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in ("--port", "--ServerApp.port"):
            port = value if equals else next(rest, "")
        else:
            others.append(argument)
    if not port.isdecimal() or int(port) > 65535:
        raise LabError(f"there is no port {port!r}: choose a number from 1024 to 65535.")
    return int(port), others


def choose_port(wanted: int) -> int:
    """The port asked for, or the next free one with a line that says so."""
    problem = port_problem(wanted)
    if problem == "not allowed":
        raise LabError(f"port {wanted} is not allowed: choose one above 1023, ARGS=--port=9000.")
    for port in range(wanted, min(wanted + PORTS_TRIED, 65536)):
        if not port_problem(port):
            if port != wanted:
                print(
                    f"lab: port {wanted} is taken (another JupyterLab? see `jupyter server list`); "
                    f"using {port}",
                    flush=True,
                )
            return port
    raise LabError(
        f"ports {wanted} to {wanted + PORTS_TRIED - 1} are all taken. Choose another: "
        'make lab ARGS="--port=9000"'
    )


def register_kernel() -> None:
    """Put the kernel `minillm` (this very Python) where this environment's Jupyter looks."""
    command = [sys.executable, "-m", "ipykernel", "install", "--sys-prefix", "--name", "minillm"]
    display = ["--display-name", "minillm (this environment)"]
    done = subprocess.run(command + display, capture_output=True, text=True)
    if done.returncode:
        raise LabError(f"the kernel could not be registered: {done.stderr.strip()}")


def command_line(port: int, arguments: list[str]) -> list[str]:
    """JupyterLab at the repository's root, opening the first notebook."""
    first = next(iter(sorted((ROOT / "notebooks").glob("00_*.ipynb"))), ROOT / "notebooks")
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={ROOT}",
        f"--LabApp.default_url=/lab/tree/{first.relative_to(ROOT).as_posix()}",
        *as_root,
        f"--ServerApp.port={port}",
        *arguments,
    ]


def main(arguments: list[str]) -> int:
    """Check, register, and become JupyterLab; returns only when something is in the way."""
    try:
        check_installed()
        from jupyter_core.paths import jupyter_runtime_dir

        runtime, temporary = Path(jupyter_runtime_dir()), Path(tempfile.gettempdir())
        check_disk([ROOT, runtime, temporary])
        wanted, arguments = take_port(arguments)
        port = choose_port(wanted)
        register_kernel()
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    print(f"lab: opening on port {port}; stop it with Ctrl-C", flush=True)
    os.chdir(ROOT)
    command = command_line(port, arguments)
    if os.name == "nt":  # there exec would leave the shell before JupyterLab ends
        return subprocess.run(command).returncode
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
