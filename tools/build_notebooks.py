"""Builds notebooks/*.ipynb from notebooks/source/*.py: runs every cell, keeps what it shows.

python tools/build_notebooks.py            run everything and write (what `make notebooks` does)
python tools/build_notebooks.py --fast     small sizes, nothing written (what the tests do)
python tools/build_notebooks.py --check    nothing run: do the notebooks match their sources?
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import time
from pathlib import Path

import jupytext
import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
MAX_BYTES = 500_000  # a notebook above this is slow to open and to review
WIDGET = "application/vnd.jupyter.widget-view+json"


class NotebookError(Exception):
    """A notebook that cannot be built or is not what its source says; the message names it."""


def sources(names: list[str]) -> list[Path]:
    """Source files in order, only those that start with one of `names` when there are any."""
    found = sorted((NOTEBOOKS / "source").glob("[0-9A]*_*.py"))
    chosen = [p for p in found if not names or p.stem.startswith(tuple(names))]
    if not chosen:
        raise NotebookError(f"no source in notebooks/source/ is called {' or '.join(names)}")
    return chosen


def target(source: Path) -> Path:
    """The notebook of a source."""
    return NOTEBOOKS / f"{source.stem}.ipynb"


def read_source(source: Path) -> nbformat.NotebookNode:
    """A notebook without outputs. Cell ids come from the text: an edit elsewhere leaves them."""
    notebook = jupytext.read(source, fmt="py:percent")
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        key = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        seen[key] = seen.get(key, 0) + 1
        cell.id = key if seen[key] == 1 else f"{key}-{seen[key]}"
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


class Runner(NotebookClient):
    """NotebookClient with this very Python as its kernel, and a progress bar: one step a cell."""

    def create_kernel_manager(self):
        own_python = KernelSpecManager(kernel_dirs=[])  # nothing registered elsewhere can step in
        self.km = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=own_python)
        return self.km

    async def async_execute_cell(self, cell, cell_index, **options):
        result = await super().async_execute_cell(cell, cell_index, **options)
        self.bar.update()
        return result


def run(source: Path, fast: bool, timeout_s: int = 600) -> nbformat.NotebookNode:
    """Run a source in a fresh kernel of this very Python; raises NotebookError at the first error.

    The kernel works in notebooks/, as it does in JupyterLab. timeout_s is for one cell.
    """
    notebook = read_source(source)
    runner = Runner(
        notebook,
        extra_arguments=["--log-level=ERROR"],  # the kernel's own notes, not the notebook's
        timeout=timeout_s,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )
    if fast:
        os.environ["MINILLM_FAST"] = "1"
    else:
        os.environ.pop("MINILLM_FAST", None)
    with tqdm(total=len(notebook.cells), desc=source.stem, unit="cell", leave=False) as bar:
        runner.bar = bar
        try:
            runner.execute()
        except CellExecutionError as error:
            raise NotebookError(f"{source.name}: a cell raised an error\n{error}") from None
        except (CellTimeoutError, DeadKernelError) as error:
            raise NotebookError(f"{source.name}: {error}") from None
    return clean(notebook)


def clean(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Take out what does not belong in a commit: widget state, times, the Python's version."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
        if cell.cell_type == "code":  # an output that was only a widget is empty now
            cell.outputs = [o for o in cell.outputs if o.get("data") != {}]
    return notebook


def write(notebook: nbformat.NotebookNode, path: Path) -> int:
    """Write through a temporary name, so that an interruption leaves the old one; -> bytes."""
    text = nbformat.writes(notebook) + "\n"
    size = len(text.encode())
    if size > MAX_BYTES:
        raise NotebookError(f"{path.name} would have {size} bytes, more than {MAX_BYTES}")
    partial = path.with_suffix(".ipynb.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    return size


def problems(source: Path) -> list[str]:
    """What is wrong with a committed notebook; [] when it is what `make notebooks` would write."""
    path = target(source)
    if not path.exists():
        return [f"{path.name} is missing: make notebooks"]
    notebook = nbformat.read(path, as_version=4)
    found = []
    cells, wanted = notebook.cells, read_source(source).cells
    if [(c.cell_type, c.source, c.id) for c in cells] != [
        (c.cell_type, c.source, c.id) for c in wanted
    ]:
        found.append(f"{path.name} is not what {source.name} says: make notebooks")
    code = [c for c in cells if c.cell_type == "code" and c.source.strip()]
    if any(c.execution_count is None for c in code):
        found.append(f"{path.name} has cells that were not run: make notebooks")
    outputs = [output for c in code for output in c.outputs]
    if any(output.output_type == "error" for output in outputs):
        found.append(f"{path.name} shows an error")
    if "widgets" in notebook.metadata or any(WIDGET in o.get("data", {}) for o in outputs):
        found.append(f"{path.name} holds widget state: make notebooks strips it")
    if path.stat().st_size > MAX_BYTES:
        found.append(f"{path.name} has more than {MAX_BYTES} bytes")
    return found


def build(source: Path, fast: bool) -> None:
    """Run one notebook, write it unless fast, print seconds and size."""
    began = time.perf_counter()
    notebook = run(source, fast)
    size = "" if fast else f", {write(notebook, target(source)) // 1000} KB"
    print(f"{source.stem}: {time.perf_counter() - began:.1f} s{size}", flush=True)


def main() -> int:
    """Entry point; 0 when every notebook asked for is right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these: 00, 04_kv_cache (default: all)")
    parser.add_argument("--fast", action="store_true", help="small sizes, nothing is written")
    parser.add_argument("--check", action="store_true", help="compare only, run nothing")
    options = parser.parse_args()
    try:
        for source in sources(options.names):
            if not options.check:
                build(source, options.fast)
            elif found := problems(source):
                raise NotebookError("\n".join(found))
    except NotebookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
