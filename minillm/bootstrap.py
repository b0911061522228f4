"""What the first cell of every notebook does once the course's folder is found.

The cell itself (tools/notebook_cells.py) only finds or clones the folder and calls `start`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

# What the notebooks import: module -> what pip installs where it is missing (Colab has most).
NEEDED = {
    "safetensors": "safetensors>=0.5",
    "tokenizers": "tokenizers>=0.21",
    "gguf": "gguf>=0.17",
    "huggingface_hub": "huggingface_hub>=0.30",
    "jinja2": "jinja2>=3.1",
    "typer": "typer>=0.15",
    "rich": "rich>=13",
    "tqdm": "tqdm>=4.66",
    "psutil": "psutil>=5.9",
    "ipywidgets": "ipywidgets>=8.1",
    "matplotlib": "matplotlib>=3.8",
}
# Colab's own builds of these fit its GPU driver and each other: never installed, never changed.
KEPT = ("torch", "triton", "numpy")
DRIVE = Path("/content/drive")  # where Colab mounts it


def start(root: Path, drive: bool = False) -> None:
    """Make the course importable, load the %%exercise magic, say in one line what machine this is.

    drive: on Colab, keep the progress in the learner's Google Drive (a folder `minillm`).
    """
    root = Path(root)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    if on_colab():
        install(missing())
        if drive:
            keep_progress_in_drive()
    load_magic()
    print(machine_line())


def on_colab() -> bool:
    """Whether this is a Google Colab kernel."""
    return "google.colab" in sys.modules


def missing() -> list[str]:
    """What pip has to install: only what is not here at all."""
    return [spec for module, spec in NEEDED.items() if importlib.util.find_spec(module) is None]


def install(specs: list[str]) -> None:
    """pip install, with torch, triton and numpy nailed to the versions that are here."""
    if not specs:
        return
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("".join(f"{name}=={v}\n" for name, v in kept_versions().items()))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "-c", str(constraints)]
        subprocess.run([*command, *specs], check=True)
    importlib.invalidate_caches()


def kept_versions() -> dict[str, str]:
    """Installed versions of what must stay as it is."""
    found = {}
    for name in KEPT:
        try:  # a local label (+cu128) is not part of what a constraint may compare
            found[name] = importlib.metadata.version(name).partition("+")[0]
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def keep_progress_in_drive() -> None:
    """Mount Google Drive (Colab asks the learner) and keep the progress there."""
    from google.colab import drive

    drive.mount(str(DRIVE))
    folder = DRIVE / "MyDrive" / "minillm"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["MINILLM_PROGRESS"] = str(folder)


def load_magic() -> None:
    """`%load_ext exercises`, said nothing if it is loaded already; nothing outside IPython."""
    shell = _shell()
    if shell is not None:
        shell.extension_manager.load_extension("exercises")


def _shell():
    """The running IPython, None in a plain script."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def machine_line() -> str:
    """Device and versions in one line."""
    import torch

    from minillm import machine

    if torch.cuda.is_available():
        gpu = torch.cuda.get_device_properties(0)
        device = f"GPU {gpu.name}, {gpu.total_memory / 1e9:.0f} GB"
    else:
        device = f"CPU, {machine.cpu_count()} cores"
    return f"{device} · torch {torch.__version__} · Python {platform.python_version()}"
