"""Plant known faults in a copy of the engine and see that the tests catch each: one command.

python -m tools.mutation             all faults, and a table of which test caught each
python -m tools.mutation NAME ...    only these
python -m tools.mutation --list      their names

The copy shadows the package (PYTHONPATH comes first), so the working tree is never touched. A
fault whose line is no longer there, or there twice, is an error: the list has to follow the code.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.mutation_faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[1]
IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info")


def plant(fault: Fault, root: Path) -> None:
    """Put the fault into the copy; SystemExit if its place is not there exactly once."""
    path = root / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise SystemExit(
            f"{fault.name}: {fault.old!r} is there {text.count(fault.old)} times in {fault.file}, "
            f"not once: bring tools/mutation_faults.py up to the code"
        )
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def copy_of_the_package(folder: Path) -> Path:
    """minillm, tests, kernels and the settings of pytest, without what is large."""
    for name in ("minillm", "tests", "kernels"):
        shutil.copytree(ROOT / name, folder / name, ignore=IGNORED)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def caught_by(fault: Fault | None, tests: str) -> str | None:
    """Run the tests on a copy with this fault -> the first test that fails, or None."""
    with tempfile.TemporaryDirectory(prefix="minillm-mutation-") as scratch:
        root = copy_of_the_package(Path(scratch))
        if fault is not None:
            plant(fault, root)
        env = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        options = ["-x", "-q", "-p", "no:cacheprovider", "--timeout", "60"]
        done = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", *options, *tests.split()], cwd=root, env=env,
            capture_output=True, text=True,
        )  # fmt: skip
    if done.returncode == 0:
        return None
    named = re.search(r"^(?:FAILED|ERROR) \S+?::(.+?)(?: - .*)?$", done.stdout, re.M)
    if done.returncode != 1 or not named:
        raise SystemExit(f"{fault and fault.name}: pytest broke\n{done.stdout}\n{done.stderr}")
    return named[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="faults; default: all")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--jobs", type=int, default=1, help="so many at the same time")
    options = parser.parse_args()
    known = {fault.name: fault for fault in FAULTS}
    if options.list:
        print("\n".join(known))
        return 0
    if unknown := set(options.names) - set(known):
        parser.error(f"no fault is called {sorted(unknown)[0]!r}: see --list")
    return run([known[name] for name in options.names or known], options.jobs)


def run(faults: list[Fault], jobs: int) -> int:
    """Print the table -> 1 if a fault was missed."""
    missed = []
    with ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda fault: caught_by(fault, fault.tests), faults)
        for fault, test in zip(faults, found):
            print(f"{fault.name:38} {test or 'NOT CAUGHT'}", flush=True)
            missed += [] if test else [fault.name]
    print(f"{len(faults) - len(missed)} of {len(faults)} planted faults were caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
