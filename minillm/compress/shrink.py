"""shrink(model, ...): whole heads, channels and layers taken out; what is left is dense.

Every layer keeps the same numbers of heads and channels (which ones may differ), so the smaller
model is an ordinary one: config, parameters, arithmetic and K/V all shrink, and any engine can
load its folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from minillm.compress.importance import block_influence, importance, layers_by_weights
from minillm.compress.quant import check_dense, check_weights
from minillm.model import Transformer


@dataclass(frozen=True)
class Kept:
    """Which parts stay, by their old numbers, in ascending order."""

    layers: tuple[int, ...]
    heads: tuple[tuple[int, ...], ...]  # query heads, one tuple a kept layer
    groups: tuple[tuple[int, ...], ...]  # KV heads
    channels: tuple[tuple[int, ...], ...]  # of the MLP


def shrink(
    model: Transformer, heads=None, channels=None, layers=None, calibration=None,
    kv_heads=None, progress=None,
) -> Transformer:  # fmt: skip
    """A smaller dense model; `model` stays as it is.

    heads (query heads), kv_heads (whole groups, with their query heads), channels (of the MLP) and
    layers say what REMAINS: a whole number, a share above 0 and below 1, or a list of the old
    numbers to keep (the same in every layer). None keeps all. Every KV head that stays keeps the
    same number of query heads, so heads must be a multiple of kv_heads.
    calibration: texts as token ids; with them the parts that add least to the output go
    (importance.py), and the layers that turn the stream least (block influence). Without, the
    weights alone decide: for layers a far poorer guide, for heads and channels not always (a few
    short texts of one kind are worse than none).
    Raises ValueError for what cannot be kept.
    """
    wanted = {"heads": heads, "channels": channels, "layers": layers, "kv_heads": kv_heads}
    return cut(model, choose(model, calibration=calibration, progress=progress, **wanted))


def choose(
    model, heads=None, channels=None, layers=None, calibration=None, kv_heads=None, progress=None
) -> Kept:
    """What shrink() would keep. Heads and channels are judged after the layers are gone."""
    check_dense(model)
    check_weights(model)
    c = model.config
    layers = _amount("layers", layers, c.num_layers)
    channels = _amount("channels", channels, c.mlp_width)
    heads, kv_heads = _grouped(heads, kv_heads, c)
    kept_layers = layers
    if isinstance(layers, int):
        scores = range(c.num_layers)
        if layers < c.num_layers:
            measured = calibration is not None
            scores = block_influence(model, calibration) if measured else layers_by_weights(model)
        kept_layers = _best(torch.tensor(list(scores), dtype=torch.float64), layers)
    judged = cut(model, _everything(c, kept_layers))
    if heads == c.num_heads and channels == c.mlp_width:
        return _everything(c, kept_layers)
    found = importance(judged, calibration, progress)
    groups = [_groups(f.heads_H, kv_heads, c) for f in found]
    per_group = heads // kv_heads if isinstance(heads, int) else None
    return Kept(
        kept_layers,
        tuple(heads if per_group is None else _heads(f.heads_H, g, per_group, c)
              for f, g in zip(found, groups)),
        tuple(groups),
        tuple(channels if isinstance(channels, tuple) else _best(f.channels_F, channels)
              for f in found),
    )  # fmt: skip


def _everything(c, layers: tuple[int, ...]) -> Kept:
    whole = lambda count: (tuple(range(count)),) * len(layers)
    return Kept(layers, whole(c.num_heads), whole(c.num_kv_heads), whole(c.mlp_width))


@torch.no_grad()
def cut(model: Transformer, kept: Kept) -> Transformer:
    """The model that consists of the kept parts, in memory of its own; layers count from 0."""
    from minillm.weights import empty_model, fill

    c = model.config
    of_layer = lambda values: tuple(values[i] for i in kept.layers)
    config = replace(
        c, num_layers=len(kept.layers), num_heads=len(kept.heads[0]),
        num_kv_heads=len(kept.groups[0]), mlp_width=len(kept.channels[0]),
        windows=of_layer(c.windows), rope_of_layer=of_layer(c.rope_of_layer),
    )  # fmt: skip
    tensors = {}
    for name, parameter in model.named_parameters():
        if not name.startswith("layers."):
            tensors[name] = parameter.detach().clone()
            continue
        _, old, inner = name.split(".", 2)
        if int(old) in kept.layers:
            new = kept.layers.index(int(old))
            tensors[f"layers.{new}.{inner}"] = _part(parameter.detach(), inner, kept, new, c)
    if config.tie_embeddings:
        tensors.pop("head.weight", None)
    return fill(empty_model(config), tensors)


def _part(tensor: Tensor, inner: str, kept: Kept, layer: int, c) -> Tensor:
    """What stays of one parameter of a layer, copied."""
    channels = torch.tensor(kept.channels[layer])
    if inner.startswith("attention.qkv."):
        q, k, v = kept.heads[layer], kept.groups[layer], kept.groups[layer]
        starts = (0, c.num_heads, c.num_heads + c.num_kv_heads)
        whole = [start + i for start, part in zip(starts, (q, k, v)) for i in part]
        return tensor[_numbers(whole, c.head_size)]
    if inner == "attention.o.weight":
        return tensor[:, _numbers(kept.heads[layer], c.head_size)].contiguous()
    if inner.startswith("mlp.gate_up."):
        return tensor[torch.cat((channels, channels + c.mlp_width))]
    if inner == "mlp.down.weight":
        return tensor[:, channels].contiguous()
    return tensor.clone()  # norms, and biases of what is written to the stream


def _numbers(heads: Sequence[int], size: int) -> Tensor:
    """Rows (or columns) of whole heads."""
    return (torch.tensor(heads)[:, None] * size + torch.arange(size)).flatten()


def _best(scores: Tensor, count: int) -> tuple[int, ...]:
    """The `count` largest, in their old order; of equal ones the earlier stay."""
    return tuple(sorted(scores.argsort(descending=True, stable=True)[:count].tolist()))


def _groups(heads_H: Tensor, kv_heads, c) -> tuple[int, ...]:
    if isinstance(kv_heads, tuple):
        return kv_heads
    return _best(heads_H.view(c.num_kv_heads, -1).sum(1), kv_heads)


def _heads(heads_H: Tensor, groups: Sequence[int], per_group: int, c) -> tuple[int, ...]:
    """The best query heads of every group that stays, equally many of each."""
    size = c.queries_per_kv
    inside = [(g * size, _best(heads_H[g * size : (g + 1) * size], per_group)) for g in groups]
    return tuple(start + i for start, part in inside for i in part)


def _amount(name: str, value, total: int) -> int | tuple[int, ...]:
    """What the caller wants to keep, as a count or as old numbers; ValueError with advice."""
    if value is None:
        return total
    if isinstance(value, (list, tuple, range)):
        numbers = tuple(value)
        whole = all(type(n) is int and 0 <= n < total for n in numbers)
        if not numbers or not whole or len(set(numbers)) < len(numbers):
            raise ValueError(
                f"{name}: a list holds different numbers from 0 to {total - 1}, of those to keep"
            )
        return tuple(sorted(numbers))
    if type(value) is float and 0 < value < 1:
        return max(1, round(total * value))
    if type(value) is int and 1 <= value <= total:
        return value
    raise ValueError(
        f"{name} says what remains: a whole number from 1 to {total}, a share above 0 and below 1, "
        f"or a list of numbers to keep; got {value!r}"
    )


def _grouped(heads, kv_heads, c):
    """heads and kv_heads as they fit each other -> (count or numbers, count or numbers)."""
    shared = isinstance(heads, float)
    if heads is None and kv_heads is not None:  # whole groups go, with all their query heads
        kv_heads = _amount("kv_heads", kv_heads, c.num_kv_heads)
        count = len(kv_heads) if isinstance(kv_heads, tuple) else kv_heads
        return count * c.queries_per_kv, kv_heads
    heads = _amount("heads", heads, c.num_heads)
    if isinstance(heads, tuple):
        if kv_heads is not None:
            raise ValueError("heads is a list: it says which groups stay, leave kv_heads out")
        each = {g: sum(h // c.queries_per_kv == g for h in heads) for g in range(c.num_kv_heads)}
        each = {g: n for g, n in each.items() if n}
        if len(set(each.values())) > 1:
            raise ValueError(
                f"heads: KV heads must keep equally many query heads, this list leaves {each} "
                f"(KV head: query heads); query heads h // {c.queries_per_kv} share one"
            )
        return heads, tuple(each)
    kv_heads = _amount("kv_heads", kv_heads, c.num_kv_heads)
    count = len(kv_heads) if isinstance(kv_heads, tuple) else kv_heads
    if shared:  # a share is rounded to what the groups allow
        heads = max(1, min(round(heads / count), c.queries_per_kv)) * count
    if heads % count or heads // count > c.queries_per_kv:
        fits = [n * count for n in range(1, c.queries_per_kv + 1)]
        raise ValueError(
            f"heads: with {count} KV heads that each keep equally many query heads, one of "
            f"{', '.join(map(str, fits))} can remain, got {heads}"
        )
    return heads, kv_heads
