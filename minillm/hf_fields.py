"""Reading one field of a config.json: its type, its range, and an error that names it."""

from __future__ import annotations

from minillm.config import LIMITS, ConfigError


def get(data: dict, name: str, kind, default=...):
    """The field if it has the type `kind`; null counts as absent. `...` means it must be there."""
    value = data.get(name)
    if value is None:
        if default is ...:
            raise ConfigError(f"config.json lacks {name}")
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ConfigError(f"{name} has the wrong type: {str(value)[:60]!r}")
    return value


def size(data: dict, name: str, ours: str, default=...) -> int:
    """A dimension, within the limits of ModelConfig but with the name that the file uses."""
    value = get(data, name, int, default)
    if not 1 <= value <= LIMITS[ours]:
        raise ConfigError(f"{name} must be from 1 to {LIMITS[ours]}, got {str(value)[:60]}")
    return value


def real(data: dict, name: str, default: float, low: float, high: float) -> float:
    value = get(data, name, (int, float), default)
    if not low <= value <= high:  # false for NaN too
        raise ConfigError(f"{name} must be from {low} to {high}, got {str(value)[:60]}")
    return float(value)
