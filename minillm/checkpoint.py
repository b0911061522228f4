"""The state of a training run in a folder: written whole or not at all, read as plain data."""

from __future__ import annotations

import json
import os
from dataclasses import asdict

import torch


def save_checkpoint(folder, model, optimizers, config, step, seconds, loss, extra=None) -> None:
    """Write to a temporary name, then rename: a kill leaves the old checkpoint whole.

    config: a dataclass, everything that the state belongs to. extra: a dict of tensors and plain
    values.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state = {
        "model": model.state_dict(),
        "optimizers": [o.state_dict() for o in optimizers],
        "config": asdict(config), "step": step, "seconds": seconds,
        "threads": torch.get_num_threads(), "extra": extra,
    }  # fmt: skip
    torch.save(state, folder / "checkpoint.tmp")
    os.replace(folder / "checkpoint.tmp", folder / "checkpoint.pt")
    with open(folder / "log.jsonl", "a") as log:
        log.write(json.dumps({"step": step, "seconds": round(seconds), "loss": loss}) + "\n")


def load_checkpoint(folder, model, optimizers, config) -> tuple[int, float, dict | None]:
    """-> (steps done, seconds spent, extra); (0, 0.0, None) where there is no checkpoint."""
    path = folder / "checkpoint.pt"
    if not path.exists():
        return 0, 0.0, None
    state = torch.load(path, weights_only=True)
    if state["config"] != asdict(config):
        raise SystemExit(f"{path} belongs to other settings: remove it, or use another --out")
    model.load_state_dict(state["model"])
    for optimizer, saved in zip(optimizers, state["optimizers"]):
        optimizer.load_state_dict(saved)
    return state["step"], state["seconds"], state.get("extra")
