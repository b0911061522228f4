"""prune(model, ...): the same model with a share of its weights set to 0.

The matrices stay dense: nothing is smaller or faster until they are stored in another form
(sparse.py) or whole parts are taken out (shrink.py).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from minillm.compress.calibrate import Inputs, check_texts, walk
from minillm.compress.folder import parts
from minillm.compress.gptq import inverse_factor
from minillm.compress.masks import (
    count_pruned,
    lowest,
    lowest_of_groups,
    lowest_of_rows,
    read_pattern,
)
from minillm.compress.quant import check_dense, check_weights, shallow
from minillm.compress.sparsegpt import sparsegpt
from minillm.model import Transformer

METHODS = ("magnitude", "wanda", "sparsegpt")


class _Default(float):
    """0.5, and known not to have been asked for: then a pattern says how much goes."""


SPARSITY = _Default(0.5)


@torch.no_grad()
def prune(
    model: Transformer,
    method: str = "magnitude",
    sparsity: float = SPARSITY,
    pattern: str | None = None,
    calibration=None,
    scope: str = "layer",
    progress=None,
) -> Transformer:
    """A new model; in each linear layer of its blocks `sparsity` of the weights are exactly 0.

    method: "magnitude" drops the smallest |w|; "wanda" (Sun et al. 2024) the smallest
    |w| * |x|, x the layer's inputs, equally many of every row; "sparsegpt" chooses by what cannot
    be made up for, and mends the others. The last two look at `calibration`, a list of texts as
    token ids. q, k, v, o, gate, up and down each lose their own share; scope="global" (magnitude
    only) compares all weights of the model with each other. pattern "N:M": N of every M neighbours
    along the inputs stay, such as "2:4". Embedding, head, norms and biases are not touched.
    Weights that are 0 already go first. progress: a wrapper for the iterator over blocks.
    Raises ValueError with advice for what does not fit together.
    """
    shape = read_pattern(pattern)
    _check(model, method, sparsity, shape, scope)
    new = shallow(model, model.config)
    if scope == "global":
        _everywhere(new, sparsity)
    elif method == "magnitude":
        for number, block in enumerate(progress(new.layers) if progress else new.layers):
            for name, layer in _linears(block):
                _set(layer, _by_magnitude(new, number, name, layer, sparsity, shape))
    else:
        by = _by_wanda if method == "wanda" else _by_sparsegpt

        def change(number: int, block: nn.Module, found: dict[str, Inputs]) -> None:
            for name, layer in _linears(block):
                _set(layer, by(new, number, name, layer, sparsity, shape, found[name]))

        walk(new, check_texts(new, calibration), change, progress)
    return _laid_out(new)


def sparsity_of(model) -> dict[str, float]:
    """{matrix as a checkpoint names it: share of its weights that are exactly 0}."""
    found = {}
    for number, block in enumerate(model.layers):
        for name, layer in _linears(block):
            for place, part in _parts(model, number, name, layer.weight):
                found[place] = float((part == 0).double().mean())
    return found


def _by_magnitude(model, number, name, layer, sparsity, pattern) -> Tensor:
    def mask(part: Tensor) -> Tensor:
        if pattern:
            return lowest_of_groups(part.abs(), pattern)
        return lowest(part.abs(), count_pruned(sparsity, part.numel()))

    return _apply(model, number, name, layer.weight, mask)


def _by_wanda(model, number, name, layer, sparsity, pattern, inputs: Inputs) -> Tensor:
    norm_K = inputs.square_K.sqrt()

    def mask(part: Tensor) -> Tensor:
        scores = part.abs().double() * norm_K
        if pattern:
            return lowest_of_groups(scores, pattern)
        return lowest_of_rows(scores, count_pruned(sparsity, part.shape[1]))

    return _apply(model, number, name, layer.weight, mask)


def _by_sparsegpt(model, number, name, layer, sparsity, pattern, inputs: Inputs) -> Tensor:
    hessian = inputs.hessian_KK
    upper = inverse_factor(hessian)
    one = lambda part: sparsegpt(part, hessian, sparsity, pattern, upper_KK=upper)
    return torch.cat([one(part) for _, part in _parts(model, number, name, layer.weight)])


def _everywhere(model, sparsity: float) -> None:
    """The smallest of all weights together."""
    layers = [layer for block in model.layers for _, layer in _linears(block)]
    scores = torch.cat([layer.weight.abs().flatten() for layer in layers])
    masks = lowest(scores, count_pruned(sparsity, scores.numel()))
    for layer, mask in zip(layers, masks.split([layer.weight.numel() for layer in layers])):
        _set(layer, _zeroed(layer.weight, mask.view(layer.weight.shape)))


def _apply(model, number: int, name: str, weight: Tensor, mask) -> Tensor:
    """Mask each matrix of the checkpoint by itself -> the joint matrix."""
    places = _parts(model, number, name, weight)
    return torch.cat([_zeroed(part, mask(part)) for _, part in places])


def _zeroed(weight: Tensor, mask: Tensor) -> Tensor:
    return weight.masked_fill(~mask, 0.0)


def _linears(block: nn.Module) -> list[tuple[str, nn.Linear]]:
    return [(n, m) for n, m in block.named_modules() if isinstance(m, nn.Linear)]


def _parts(model, number: int, name: str, weight: Tensor) -> list[tuple[str, Tensor]]:
    places = parts(f"layers.{number}.{name}", weight.shape[0], model.config)
    return list(zip([p for p, _ in places], weight.split([rows for _, rows in places])))


def _set(layer: nn.Linear, weight: Tensor) -> None:
    layer.weight = nn.Parameter(weight, requires_grad=False)


def _laid_out(model: Transformer) -> Transformer:
    """The same model with its matrices where loading would have put them (see arena.py)."""
    from minillm.weights import empty_model, fill

    tensors = {name: p.detach() for name, p in model.named_parameters()}
    return fill(empty_model(model.config), tensors)


def _check(model, method, sparsity, pattern, scope) -> None:
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    number = isinstance(sparsity, (int, float)) and not isinstance(sparsity, bool)
    if not number or not 0 <= sparsity <= 1:
        raise ValueError(f"sparsity is the share that goes, from 0 to 1, got {sparsity!r}")
    if scope not in ("layer", "global"):
        raise ValueError(f"scope must be 'layer' or 'global', got {scope!r}")
    if scope == "global" and (method != "magnitude" or pattern):
        raise ValueError(
            "scope='global' compares weights of different layers by size: for magnitude only, "
            "without a pattern"
        )
    check_dense(model)
    check_weights(model)
    if pattern:
        keep, size = pattern
        if not isinstance(sparsity, _Default) and sparsity != 1 - keep / size:
            raise ValueError(
                f"pattern {keep}:{size} drops {1 - keep / size:.0%}: leave sparsity out"
            )
        odd = [n for n, m in model.layers.named_modules()
               if isinstance(m, nn.Linear) and m.in_features % size]  # fmt: skip
        if odd:
            more = " ..." if len(odd) > 4 else ""
            raise ValueError(
                f"pattern {keep}:{size}: {size} does not divide the input width of "
                f"layers.{', layers.'.join(odd[:4])}{more}; take another pattern, or sparsity"
            )
