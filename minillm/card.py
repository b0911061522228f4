"""From a finished training run to minillm/assets/tiny: weights in fp16, tokenizer, model card.

`python -m minillm.card build/tiny minillm/assets/tiny` (minillm.train does it at the end).
"""

from __future__ import annotations

import json
import platform
from pathlib import Path

import torch

from minillm import corpus
from minillm.bpe import train_tokenizer
from minillm.compress import evaluate
from minillm.load import load
from minillm.model import Transformer
from minillm.save import save
from minillm.tokenizer import Tokenizer
from minillm.train import TINY

TARGETS = {"recall": 0.98, "copy": 0.98, "sort": 0.98, "add": 0.95, "code": 0.90}
CARD = """\
# tiny: the default model of minillm

A Llama-shaped transformer of {parameters:,} parameters (width {width}, {layers} layers, {heads}
query heads and {kv_heads} key/value heads of size {head_size}, MLP {mlp}, vocabulary {vocab},
context {context}), trained by this project on text that a program wrote. It exists to show what an
optimisation breaks. It knows nothing about the world.

- **Data:** `minillm/corpus.py` and `minillm/tales.py`, seed {seed}: recall, copy, sort, 3-digit
  addition, small programs, short tales (English, and about a third in Korean). One prompt in
  {test_share} is kept for tests by a hash of its text, so training and test never share an item.
- **Tokenizer:** byte-level BPE with {vocab} ids, digits one by one, trained on the same text.
- **Command:** `{command}`
- **Training:** {steps:,} steps of {step_tokens:,} tokens ({tokens:.1f} million), {minutes:.0f}
  minutes on {threads} of the cores of: {machine}; torch {torch}. Settings: `{settings}`
- **Stored as** fp16 safetensors, {megabytes:.1f} MB.

| task | unseen items right (greedy, exact) | target |
|---|---|---|
{rows}

Counted on {count:,} unseen items a task. Tales: perplexity {tales:.2f} a token on {tale_count}
unseen tales. The same by yourself: `minillm eval --model tiny --tasks --count {count}`.

Licence: Apache-2.0.
"""


def export(run: Path, target: Path, command: str, count: int = 1000) -> dict[str, float]:
    """Write the model folder and its card from the run's last checkpoint -> {task: accuracy}."""
    state = torch.load(run / "checkpoint.pt", weights_only=True)
    model = Transformer(TINY)
    model.load_state_dict(state["model"])
    tokenizer = Tokenizer(train_tokenizer(seed=state["config"]["seed"]), (0,), 0)
    save(model.half(), tokenizer, target)
    model, tokenizer = load(str(target), dtype="fp32", device="cpu")  # judged as others load it
    accuracy = evaluate.tasks(model, tokenizer, count)
    tales = evaluate.tale_perplexity(model, tokenizer, tale_count := 200)
    rows = "\n".join(f"| {t} | {a:.3f} | {TARGETS[t]:.2f} |" for t, a in accuracy.items())
    settings, c = state["config"], model.config
    weights = target / "model.safetensors"
    text = CARD.format(
        parameters=model.num_parameters(), width=c.width, layers=c.num_layers, heads=c.num_heads,
        kv_heads=c.num_kv_heads, head_size=c.head_size, mlp=c.mlp_width, vocab=c.vocab_size,
        context=c.max_len, seed=settings["seed"], test_share=corpus.TEST_SHARE, command=command,
        steps=state["step"], step_tokens=settings["tokens_per_step"],
        tokens=state["step"] * settings["tokens_per_step"] / 1e6, minutes=state["seconds"] / 60,
        threads=state.get("threads", torch.get_num_threads()), machine=cpu_name(),
        torch=torch.__version__, settings=json.dumps(settings),
        megabytes=weights.stat().st_size / 1e6, rows=rows, count=count, tales=tales,
        tale_count=tale_count,
    )  # fmt: skip
    (target / "README.md").write_text(text, encoding="utf-8")
    return accuracy


def cpu_name() -> str:
    """The processor's own name, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
