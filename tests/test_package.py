"""`import minillm` is cheap, and its names mean the same whatever was imported before."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "transformers", "matplotlib", "gguf", "triton", "tokenizers")


def run(code: str) -> str:
    """What a fresh Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_loads_nothing_heavy():
    code = f"import sys, minillm; print([m for m in {HEAVY} if m in sys.modules])"
    assert run(code) == "[]"


def test_loading_and_writing_need_neither_transformers_matplotlib_gguf_nor_triton():
    code = """
import sys, minillm
model, tokenizer = minillm.load("tiny")
minillm.generate(model, tokenizer.encode("add: 1"), minillm.SamplingParams(max_tokens=2))
print([m for m in ("transformers", "matplotlib", "gguf", "triton") if m in sys.modules])
"""
    assert run(code) == "[]"


@pytest.mark.parametrize(
    "first",
    [
        "pass",
        "from minillm.generate import steps",
        "import minillm.load, minillm.save, minillm.generate",
        "minillm.stream_text, minillm.LoadError",
    ],
)
def test_functions_are_not_hidden_by_their_files(first):
    code = f"""
import minillm
{first}
from minillm import generate, load, save
for function in (generate, load, save, minillm.generate, minillm.load, minillm.save):
    assert type(function).__name__ == "function", function
print(minillm.evaluate.perplexity.__name__)
"""
    assert run(code) == "perplexity"


def test_every_public_name_exists():
    import minillm

    for name in minillm.__all__:
        assert getattr(minillm, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        minillm.no_such_name  # noqa: B018


def test_the_readable_core_stays_small():
    root = Path(__file__).resolve().parents[1] / "minillm"
    lines = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in root.rglob("*.py")}
    assert max(lines.values()) <= 260, max(lines, key=lines.get)
    core = ["config.py", "model.py", "ops.py", "sampling.py", "generate.py", "cache/simple.py"]
    # EngineConfig is 40 of them, the choice of kernels 25.
    assert sum(lines[root / name] for name in core) <= 970
