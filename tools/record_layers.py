"""Records what each layer of the default model is worth, for exercise 13.5.

python -m tools.record_layers      writes exercises/ch13_shrinking/layers.json (a minute)

Run it again after a retraining: tests/test_ch13.py compares the file with the model.
"""

from __future__ import annotations

import json
from pathlib import Path

from minillm.bench import _circumstances
from minillm.compress import evaluate
from minillm.compress.shrink import shrink
from minillm.load import load
from tools.record_fragility import weights_sha

TARGET = Path(__file__).parents[1] / "exercises" / "ch13_shrinking" / "layers.json"
COMMAND = "python -m tools.record_layers"
COUNT = 200  # unseen items a task, and tales


def without(model, layer: int):
    """The model without one layer; nothing is trained after that."""
    return shrink(model, layers=[i for i in range(model.config.num_layers) if i != layer])


def row(model, tokenizer, layer: int | None) -> dict:
    """What the model can do without this layer (None: with all of them)."""
    new = model if layer is None else without(model, layer)
    return {
        "layer": layer,
        "tasks": evaluate.tasks(new, tokenizer, COUNT),
        "tales_perplexity": round(evaluate.tale_perplexity(new, tokenizer, COUNT), 4),
    }


def main() -> None:
    model, tokenizer = load("tiny", dtype="fp32")
    report = {"command": COMMAND, "weights_sha256": weights_sha(), "count": COUNT}
    report |= {k: v for k, v in _circumstances().items() if k in ("date", "machine", "versions")}
    report["rows"] = []
    for layer in (None, *range(model.config.num_layers)):
        report["rows"].append(row(model, tokenizer, layer))
        print(json.dumps(report["rows"][-1]), flush=True)
    TARGET.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
