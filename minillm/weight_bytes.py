"""Bytes that a model's weights really hold, by part and format."""

from __future__ import annotations

from torch import Tensor, nn


def weight_bytes(model: nn.Module) -> dict[str, dict[str, int]]:
    """{part: {format: bytes}}, parts embedding, linear, head, other (norms and biases)."""
    seen, table = set(), {"embedding": {}, "linear": {}, "head": {}, "other": {}}

    def count(part: str, kind: str, size: int) -> None:
        table[part][kind] = table[part].get(kind, 0) + size

    for name, module in model.named_modules():
        if module is model:
            continue
        part = name.split(".")[0]
        inside = part if part in ("embedding", "head") else "linear"
        if hasattr(module, "weight_bytes"):
            for kind, size in module.weight_bytes().items():
                count(inside, kind, size)
        for tensor in _dense(module):
            if tensor.data_ptr() not in seen or not tensor.nbytes:
                kind = str(tensor.dtype).removeprefix("torch.")
                count(inside if tensor.dim() == 2 else "other", kind, tensor.nbytes)
            seen.add(tensor.data_ptr())
    return table


def _dense(module: nn.Module) -> list[Tensor]:
    """The module's own parameters, and its buffers unless it counts those itself."""
    own = list(module.parameters(recurse=False))
    return own if hasattr(module, "weight_bytes") else own + list(module.buffers(recurse=False))
