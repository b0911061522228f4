"""Builds notebooks/*.ipynb from notebooks/source/*.py: runs every cell, keeps what it shows.

python tools/build_notebooks.py            run everything and write (what `make notebooks` does)
python tools/build_notebooks.py --fast     small sizes, nothing written (what the tests do)
python tools/build_notebooks.py --fast -j 2    two at a time
python tools/build_notebooks.py --check    nothing run: do the notebooks match their sources?
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from notebook_cells import ROOT, NotebookError, id_problems, read_source
from tqdm import tqdm

NOTEBOOKS = ROOT / "notebooks"
MAX_BYTES = 500_000  # a notebook above this is slow to open and to review
WIDGET = "application/vnd.jupyter.widget-view+json"
RUNNING: list[Runner] = []  # what Ctrl-C must stop: their kernels do not hear it
STOPPED = threading.Event()


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


class Runner(NotebookClient):
    """NotebookClient with this very Python as its kernel, and a progress bar: one step a cell."""

    def create_kernel_manager(self):
        own_python = KernelSpecManager(kernel_dirs=[])  # nothing registered elsewhere can step in
        self.km = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=own_python)
        return self.km

    async def async_execute_cell(self, cell, cell_index, **options):
        if STOPPED.is_set():
            raise NotebookError("stopped")
        result = await super().async_execute_cell(cell, cell_index, **options)
        self.bar.update()
        return result


def run(source: Path, fast: bool, timeout_s: int = 600) -> nbformat.NotebookNode:
    """Run a source in a fresh kernel of this very Python; raises NotebookError at the first error.

    The kernel works in notebooks/, as it does in JupyterLab. Its learner's progress is a folder
    that vanishes afterwards: a build neither reads nor changes yours. timeout_s is for one cell.
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
    bar = tqdm(total=len(notebook.cells), desc=source.stem, unit="cell", leave=False)
    with bar, tempfile.TemporaryDirectory() as progress:
        runner.bar = bar
        RUNNING.append(runner)
        try:
            runner.execute(env=environment(fast, progress))
        except CellExecutionError as error:
            raise NotebookError(f"{source.name}: a cell raised an error\n{error}") from None
        except (CellTimeoutError, DeadKernelError) as error:
            raise NotebookError(f"{source.name}: {error}") from None
        finally:
            RUNNING.remove(runner)
    if STOPPED.is_set():  # Ctrl-C came too late for the kernel, not for the file
        raise NotebookError("stopped")
    return clean(notebook)


def stop(pool: ThreadPoolExecutor) -> int:
    """End all kernels and start no other; what runs is not written -> the exit code of Ctrl-C."""
    STOPPED.set()
    pool.shutdown(wait=False, cancel_futures=True)
    for runner in list(RUNNING):
        process = getattr(getattr(runner.km, "provisioner", None), "process", None)
        if process is not None:  # else it is starting: its first cell finds STOPPED
            process.kill()
    print("stopped: what was not ready is not written", file=sys.stderr)
    return 130


def environment(fast: bool, progress: str) -> dict[str, str]:
    """The variables a kernel runs with."""
    variables = {**os.environ, "MINILLM_PROGRESS": progress, "MINILLM_FAST": "1" if fast else ""}
    if not fast:
        del variables["MINILLM_FAST"]
    return variables


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
    found = id_problems(source)
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
    if not fast and (found := id_problems(source)):
        raise NotebookError("\n".join(found))
    began = time.perf_counter()
    notebook = run(source, fast)
    size = "" if fast else f", {write(notebook, target(source)) // 1000} KB"
    print(f"{source.stem}: {time.perf_counter() - began:.1f} s{size}", flush=True)


def main() -> int:
    """Entry point; 0 when every notebook asked for is right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="only these: 00, 04_kv_cache (default: all)")
    parser.add_argument("--fast", action="store_true", help="small sizes, nothing is written")
    parser.add_argument("-j", type=int, default=1, dest="jobs", help="so many at a time (--fast)")
    parser.add_argument("--check", action="store_true", help="compare only, run nothing")
    options = parser.parse_args()
    if options.jobs > 1 and not options.fast:
        parser.error("-j is for --fast: notebooks that measure run one after another")
    work = check if options.check else lambda source: build(source, options.fast)
    failed, chosen = 0, _chosen(parser, options.names)
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:  # waits for its threads at the end
        try:
            for future in [pool.submit(work, source) for source in chosen]:
                failed += not _done(future)
        except KeyboardInterrupt:
            return stop(pool)
    if options.check and not failed:
        print(f"{len(chosen)} notebooks are what their sources say")
    return int(failed > 0)


def _done(future) -> bool:
    try:
        future.result()
    except NotebookError as error:
        print(error, file=sys.stderr)
        return False
    return True


def check(source: Path) -> None:
    """Raise NotebookError with all that is wrong with a committed notebook."""
    if found := problems(source):
        raise NotebookError("\n".join(found))


def _chosen(parser, names: list[str]) -> list[Path]:
    try:
        return sources(names)
    except NotebookError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())
