"""Records what fewer bits do to the default model, for exercises 11.5 and 11.6.

python -m tools.record_fragility      writes exercises/ch11_gptq_awq/fragility.json (some minutes)

Run it again after a retraining: tests/test_ch11.py compares the file with the model.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from minillm import corpus
from minillm.bench import _circumstances
from minillm.compress import evaluate
from minillm.compress.calibrate import own_texts
from minillm.compress.compare import distance
from minillm.compress.quant import simulate
from minillm.load import load

TARGET = Path(__file__).parents[1] / "exercises" / "ch11_gptq_awq" / "fragility.json"
COMMAND = "python -m tools.record_fragility"
COUNT, GROUP = 200, 64  # unseen items a task; columns that share a scale
ROWS = (
    [("none", 32)]
    + [("rtn", b) for b in (8, 6, 5, 4, 3, 2)]
    + [("gptq", b) for b in (4, 3, 2)]
)  # fmt: skip


def weights_sha() -> str:
    """Which weights the package ships."""
    import minillm

    path = Path(minillm.__file__).parent / "assets" / "tiny" / "model.safetensors"
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tales(model, tokenizer) -> list[list[int]]:
    """Unseen tales with their end token: where the next token is compared."""
    end = model.config.eos_token_ids[0]
    return [[*tokenizer.encode(i.answer), end] for i in corpus.test_items("tales", COUNT, 0)]


def rounded(model, tokenizer, method: str, bits: int):
    """The model with its weights rounded (method "none": itself)."""
    if method == "none":
        return model
    return simulate(model, bits, GROUP, method, own_texts(tokenizer) if method != "rtn" else None)


def row(model, tokenizer, method: str, bits: int) -> dict:
    new = rounded(model, tokenizer, method, bits)
    return {
        "method": method,
        "bits": bits,
        "tasks": evaluate.tasks(new, tokenizer, COUNT),
        "same_token": round(distance(model, new, tales(model, tokenizer)).top1, 4),
        "tales_perplexity": round(evaluate.tale_perplexity(new, tokenizer, COUNT), 4),
    }


def main() -> None:
    model, tokenizer = load("tiny", dtype="fp32")
    report = {"command": COMMAND, "weights_sha256": weights_sha(), "count": COUNT, "group": GROUP}
    report |= {k: v for k, v in _circumstances().items() if k in ("date", "machine", "versions")}
    report["rows"] = []
    for method, bits in ROWS:
        report["rows"].append(row(model, tokenizer, method, bits))
        print(json.dumps(report["rows"][-1]), flush=True)
    TARGET.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
