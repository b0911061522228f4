"""The state of a training run in a folder: written whole or not at all, read as plain data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

import torch
from torch import nn

from minillm.files import new_file


class CheckpointError(ValueError):
    """A state that this run cannot go on from; the message names the file and the reason."""


def save_checkpoint(folder, model, optimizers, config, step, seconds, loss, extra=None) -> None:
    """Write to a temporary name, then rename: a kill or a full disk leaves the old one whole.

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
    with new_file(folder / "checkpoint.pt") as file:
        torch.save(state, file)
    with open(folder / "log.jsonl", "a") as log:
        log.write(json.dumps({"step": step, "seconds": round(seconds), "loss": loss}) + "\n")


def load_checkpoint(folder, model, optimizers, config) -> tuple[int, float, dict | None]:
    """-> (steps done, seconds spent, extra); (0, 0.0, None) where there is no checkpoint.

    Raises CheckpointError for a damaged one, and for that of another model or of other settings.
    """
    path = folder / "checkpoint.pt"
    if not path.exists():
        return 0, 0.0, None
    state = _read(path)
    if state.get("config") != asdict(config):
        raise CheckpointError(f"{path} holds a run of another model or of other settings")
    try:
        model.load_state_dict(state["model"])
        for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        step, seconds = state["step"], float(state["seconds"])
        if type(step) is not int or step < 0:
            raise ValueError(f"step {step!r}")
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise damaged(path, error) from None
    return step, seconds, state.get("extra")


def _read(path) -> dict:
    """Never runs what is inside; torch's own words would advise to let it."""
    try:
        if not path.is_file():
            raise TypeError("not a regular file")
        state = torch.load(path, weights_only=True)
        if not isinstance(state, dict):
            raise TypeError("no dict")
    except Exception as error:  # zip, pickle, end of file, permission: torch has many kinds
        raise damaged(path, error) from None
    return state


def damaged(path, error: Exception) -> CheckpointError:
    return CheckpointError(f"{path} is damaged, or no checkpoint of ours ({type(error).__name__})")


def mark_of(model: nn.Module | None) -> str:
    """The same for the same weights and for no others."""
    found = hashlib.sha256()
    for name, tensor in model.state_dict().items() if model is not None else ():
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        found.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return found.hexdigest()
