"""Peak memory of one engine in a process of its own: python -m minillm.bench_memory (a child)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from minillm.bench_engines import ENGINES, PEER, silence


def peak_bytes() -> int:
    """Largest resident memory of this process so far, in bytes.

    Linux keeps it for each address space (VmHWM). getrusage would not do: a child inherits the
    high-water mark of the process that started it.
    """
    try:
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"^VmHWM:\s*(\d+) kB", status, re.M)[1]) * 1024
    except (OSError, TypeError):
        import psutil

        info = psutil.Process().memory_info()
        if hasattr(info, "peak_wset"):  # Windows
            return info.peak_wset
        import resource  # macOS: a spawned process starts from its own; bytes there

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(engine: str, folder: str, prompt: list[int], new_tokens: int) -> dict:
    """Load, write `new_tokens` tokens -> {"imported_bytes", "peak_bytes"} of this process.

    Both engines also load the tokenizer, where the folder has one: who writes text needs it.
    """
    import torch  # noqa: F401

    import minillm.generate
    import minillm.load  # noqa: F401

    if engine == PEER:
        silence()
        from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: F401
    imported = peak_bytes()
    if engine == PEER and Path(folder, "tokenizer.json").exists():
        kept = AutoTokenizer.from_pretrained(folder)  # ours is loaded by Ours
        assert len(kept)
    ENGINES[engine](folder).run(prompt, new_tokens)
    return {"imported_bytes": imported, "peak_bytes": peak_bytes()}


def measure_in_child(engine: str, folder: Path, prompt: list[int], new_tokens: int) -> dict:
    """The same in a fresh process. Raises RuntimeError with its last line if it fails."""
    task = json.dumps([engine, str(folder), list(prompt), new_tokens])
    command = [sys.executable, "-m", "minillm.bench_memory", task]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise RuntimeError(f"measuring the memory of {engine} failed: {last}")
    return json.loads(done.stdout.strip().splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps(measure(*json.loads(sys.argv[1]))))
