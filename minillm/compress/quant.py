"""quantize(model, ...): the same model with its linear layers in 8 or 4 bits."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import nn

from minillm.compress import formats
from minillm.compress.calibrate import check_texts, walk
from minillm.compress.linear import SCHEMES, QuantLinear
from minillm.compress.methods import Rules, by_awq, by_gptq
from minillm.model import Linear, Transformer

METHODS = ("rtn", "gptq", "awq")


class _Default(int):
    """64, and known not to have been asked for: then int8 and w8a8 take one scale a row."""


GROUP = _Default(64)


@torch.no_grad()
def quantize(
    model: Transformer,
    scheme: str = "int4",
    group_size: int | None = GROUP,
    method: str = "rtn",
    calibration=None,
    head: str | None = None,
    compute: str = "exact",
    symmetric: bool = True,
    outlier: float | None = None,
    act_order: bool = True,
    clip: bool = False,
    progress=None,
) -> Transformer:
    """A new model whose linear layers are packed; what is not packed is shared with `model`.

    scheme: "int8", "int4", "nf4" (weights only) or "w8a8" (activations too, a scale a token).
    group_size: columns that share a scale, None for the whole row; int8 takes a row unless a size
    is given, w8a8 always. symmetric: no zero points (int8, int4). head: "int8" or "int4" packs
    the output head as well; a tied one becomes a matrix of its own, the embedding stays dense.
    compute: "exact" dequantises and multiplies, "fast" uses packed operations where they fit, with
    bfloat16 inside and scales rounded (up) to it. Its last digits depend on the number of rows in a
    step, so with it the tokens of a request may depend on its neighbours; with "exact" they do not.
    outlier: for w8a8, columns with larger activations are multiplied in the model's dtype.
    method: "rtn" rounds to nearest; "gptq" and "awq" look at `calibration`, a list of texts as
    token ids, block by block (the head is always rounded to nearest). act_order: GPTQ takes the
    columns with the largest inputs first. clip: AWQ also shrinks ranges. progress: a wrapper for
    the iterator over blocks, such as tqdm.
    Raises ValueError for what does not go together and for weights that are inf or NaN.
    """
    _check(model, scheme, group_size, method, head, compute, symmetric, outlier)
    kept = torch.bfloat16 if compute == "fast" else None  # the scales that packed operations read
    config, split = model.config, head is not None and model.config.tie_embeddings
    new = shallow(model, replace(config, tie_embeddings=False) if split else config)

    coder = lambda weight: encode(weight, scheme, group_size, symmetric, kept)
    rules = Rules(SCHEMES[scheme], _group(scheme, group_size), symmetric, kept, act_order, clip)
    make = lambda coded, bias: QuantLinear(coded, scheme, bias, compute, outlier)
    replace_linears(new, method, rules, coder, make, calibration, progress)
    if head is not None:
        coded = encode(new.head.weight, head, GROUP, True, kept)
        new.head = QuantLinear(coded, head, new.head.bias, compute)
    return new.requires_grad_(False).eval()


def replace_linears(new, method, rules: Rules, coder, make, calibration, progress=None) -> None:
    """Put make(coded, bias) in the place of every linear layer of every block, by a method.

    coder(weight) -> Coded is rounding to nearest, and what AWQ tries; rules are GPTQ's.
    """

    def place(block, name: str, coded: formats.Coded) -> None:
        parent, _, last = name.rpartition(".")
        setattr(block.get_submodule(parent), last, make(coded, block.get_submodule(name).bias))

    if method != "rtn":
        change = (by_gptq if method == "gptq" else by_awq)(new.config, rules, coder, place)
        walk(new, check_texts(new, calibration), change, progress)
        return
    for block in progress(new.layers) if progress else new.layers:
        for name, layer in [m for m in block.named_modules() if isinstance(m[1], nn.Linear)]:
            place(block, name, coder(layer.weight))


@torch.no_grad()
def simulate(
    model: Transformer,
    bits: int,
    group_size: int | None = 64,
    method: str = "rtn",
    calibration=None,
    symmetric: bool = True,
    progress=None,
) -> Transformer:
    """A DENSE model with weights rounded to 2 to 8 bits: for quality only, nothing is smaller.

    What 6, 5, 3 and 2 bits do to answers can be judged before anyone packs them.
    """
    _check(model, "int4", group_size, method, None, "exact", symmetric, None)
    rounding = formats.symmetric if symmetric else formats.asymmetric
    coder = lambda weight: rounding(weight, bits, group_size)
    new = shallow(model, model.config)

    def make(coded: formats.Coded, bias):
        layer = Linear(*reversed(coded.codes_NK.shape), bias=False, device="meta")
        layer.weight, layer.bias = nn.Parameter(coded.dequantize(), requires_grad=False), bias
        return layer

    rules = Rules(bits, group_size, symmetric, None)
    replace_linears(new, method, rules, coder, make, calibration, progress)
    return new.requires_grad_(False).eval()


def _group(scheme: str, group_size) -> int | None:
    if scheme == "w8a8" or scheme == "int8" and isinstance(group_size, _Default):
        return None
    return group_size


def encode(weight, scheme: str, group_size, symmetric: bool, scale_dtype=None) -> formats.Coded:
    """One matrix rounded to nearest in the format of a scheme.

    scale_dtype: in which scales are kept; default the weights' own (NF4, w8a8: at least float32).
    """
    group_size = _group(scheme, group_size)
    if scheme in ("nf4", "w8a8"):
        scale_dtype = torch.promote_types(weight.dtype, torch.float32)
    if scheme == "nf4":
        return formats.nf4(weight, group_size, scale_dtype)
    rounding = formats.symmetric if symmetric else formats.asymmetric
    return rounding(weight, SCHEMES[scheme], group_size, scale_dtype)


def check_dense(model) -> None:
    """ValueError where some layers are packed already."""
    if any(isinstance(m, QuantLinear) for m in model.modules()):
        raise ValueError("this model is quantised already: start from the dense one")
    if any(hasattr(m, "num_packed") for m in model.modules()):
        raise ValueError("this model is stored sparse: take sparse.densify(model) first")


def check_weights(model) -> None:
    """ValueError where a weight of a block is inf or NaN: it has no size to be judged by."""
    for name, parameter in model.layers.named_parameters():
        if not parameter.isfinite().all():
            raise ValueError(f"layers.{name} holds inf or NaN: the file may be damaged")


def shallow(model: Transformer, config) -> Transformer:
    """A model of new modules and the same tensors; a head that is no longer tied is set too."""
    from minillm.weights import empty_model

    new, mine = empty_model(config), {}
    for name, module in model.named_modules():
        for key, parameter in module.named_parameters(recurse=False):
            # An object of its own on the same memory: new.to(...) must not change the original.
            if id(parameter) not in mine:
                mine[id(parameter)] = nn.Parameter(parameter.data, requires_grad=False)
            setattr(new.get_submodule(name), key, mine[id(parameter)])
    return new


def _check(model, scheme, group_size, method, head, compute, symmetric, outlier) -> None:
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, got {scheme!r}")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method == "gptq" and scheme == "nf4":
        raise ValueError("gptq rounds to whole numbers: use int4, or nf4 with method='awq'")
    if head not in (None, "int8", "int4"):
        raise ValueError(f"head must be None, 'int8' or 'int4', got {head!r}")
    if compute not in ("exact", "fast"):
        raise ValueError(f"compute must be 'exact' or 'fast', got {compute!r}")
    if group_size is not None and (type(group_size) not in (int, _Default) or group_size < 1):
        raise ValueError(
            f"group_size must be a whole number of columns or None, got {group_size!r}"
        )
    if scheme == "w8a8" and not (group_size is None or isinstance(group_size, _Default)):
        raise ValueError("w8a8 has one scale a row: leave group_size out")
    if not symmetric and scheme in ("nf4", "w8a8"):
        raise ValueError(f"{scheme} has no zero points: leave symmetric out")
    if outlier is not None and (scheme != "w8a8" or not outlier > 0):
        raise ValueError("outlier is a threshold above 0, and for w8a8 only")
    check_dense(model)
