"""Reading a compressed-tensors checkpoint: what its config says, and its packed layers.

Everything is compared with the headers before a tensor is read; what this engine cannot compute
exactly as the file says is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from minillm.compress.folder import parts, unpack_zeros
from minillm.compress.formats import Coded
from minillm.compress.linear import QuantLinear
from minillm.compress.packing import unpack, words_for
from minillm.files import LoadError

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
LAYOUTS = ("pack-quantized", "int-quantized")
# Fields of `weights` that say how the scales were found, not what the numbers mean.
HARMLESS = {"observer", "observer_kwargs", "scale_dtype", "zp_dtype", "block_structure"}


@dataclass(frozen=True)
class Entry:
    """One config group."""

    scheme: str
    bits: int
    group: int | None  # None: one scale a row
    symmetric: bool


def take_quantised(model: nn.Module, config: dict, folder: Path, stored: dict, device) -> None:
    """Replace the packed layers of a meta model by those of the files; takes them out of `stored`.

    config: the folder's quantization_config. Raises LoadError naming everything that is missing,
    of the wrong shape or type, or not supported.
    """
    groups, ignored = read_groups(config, folder)
    layers = [(n, m) for n, m in model.named_modules() if isinstance(m, nn.Linear)]
    faults, chosen = [], []
    for name, layer in layers:
        places = parts(name, layer.out_features, model.config)
        found = [_entry_of(place, groups, ignored) for place, _ in places]
        if name == "head" and model.config.tie_embeddings:
            found = [None]
        if len(set(found)) > 1:
            together = ", ".join(place for place, _ in places)
            faults.append(f"{together} are one matrix here and need one format")
        elif found[0] is not None:
            faults += _check(places, layer.in_features, found[0], stored)
            chosen.append((name, layer, places, found[0]))
    if faults:
        more = f" and {len(faults) - 6} more" if len(faults) > 6 else ""
        raise LoadError(f"{folder}: {'; '.join(faults[:6])}{more}")
    for name, layer, places, entry in chosen:
        packed = _read_layer(places, layer, entry, stored, device)
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, packed)


def read_groups(config: dict, folder: Path) -> tuple[list[tuple[list[str], Entry]], list[str]]:
    """quantization_config -> ([(targets, Entry)], ignored names), or LoadError."""

    def refuse(what: str):
        raise LoadError(f"{folder}: quantization_config: {what}")

    if not isinstance(config, dict) or config.get("quant_method") != "compressed-tensors":
        method = config.get("quant_method") if isinstance(config, dict) else config
        refuse(f"quant_method {str(method)[:40]!r} is not supported, only 'compressed-tensors'")
    table, ignored = config.get("config_groups"), config.get("ignore") or []
    if not isinstance(table, dict) or not table:
        refuse("config_groups is missing")
    if not _is_names(ignored):
        refuse("ignore must be a list of names")
    if strange := _strange(ignored):
        refuse(f"ignore: the pattern {strange!r} is not supported")
    for field in ("kv_cache_scheme", "sparsity_config", "transform_config"):
        if config.get(field):
            refuse(f"{field} is not supported")
    if (whole := config.get("format")) not in (None, "mixed-precision", *LAYOUTS):
        refuse(f"format {str(whole)[:40]!r} is not one of {', '.join(LAYOUTS)}")
    groups = []
    for name, group in table.items():
        if not isinstance(group, dict) or not _is_names(group.get("targets")):
            refuse(f"{name} has no list of targets")
        if strange := _strange(group["targets"]):
            refuse(f"{name}: the pattern {strange!r} is not supported")
        layout = group.get("format") or config.get("format")
        if layout not in LAYOUTS:
            refuse(f"{name}: format {str(layout)[:40]!r} is not one of {', '.join(LAYOUTS)}")
        problem, entry = read_entry(group, layout)
        if problem:
            refuse(f"{name}: {problem}")
        groups.append((group["targets"], entry))
    names = [*ignored, *(target for targets, _ in groups for target in targets)]
    if sum(name.startswith("re:") for name in names) > MOST_PATTERNS:
        refuse(f"more than {MOST_PATTERNS} patterns")
    return groups, ignored


def read_entry(group: dict, layout: str) -> tuple[str, Entry | None]:
    """One config group -> (what is wrong with it or "", Entry)."""
    weights, inputs = group.get("weights"), group.get("input_activations")
    if not isinstance(weights, dict):
        return "weights are not described", None
    if group.get("output_activations"):
        return "output_activations are not supported", None
    get = weights.get
    bits, strategy, size = get("num_bits"), get("strategy"), get("group_size")
    known = {"num_bits", "type", "symmetric", "dynamic", "strategy", "group_size", "actorder"}
    if strange := [k for k in weights if k not in known | HARMLESS and weights[k]]:
        return f"weights.{strange[0]} is not known", None
    whole = type(bits) is int and bits in (4, 8)  # 4.0 is equal to 4
    if get("type", "int") != "int" or not whole or get("dynamic"):
        return "weights must be int of 4 or 8 bits, not dynamic", None
    if strategy not in ("group", "channel") or get("actorder") not in (None, "static", "weight"):
        return f"strategy {strategy!r}, actorder {get('actorder')!r} are not supported", None
    if strategy == "group" and (type(size) is not int or not 1 <= size <= 1 << 20):
        return f"group_size must be a whole number, got {str(size)[:20]!r}", None
    group_size = size if strategy == "group" else None
    is_symmetric = get("symmetric", True)
    if type(is_symmetric) is not bool:
        return f"weights.symmetric must be true or false, got {str(is_symmetric)[:20]!r}", None
    if layout == "pack-quantized":
        if inputs:
            return "packed weights with quantised activations are not supported", None
        return "", Entry("int8" if bits == 8 else "int4", bits, group_size, is_symmetric)
    wanted = {"num_bits": 8, "type": "int", "symmetric": True, "dynamic": True, "strategy": "token"}
    told = inputs if isinstance(inputs, dict) else {}
    plain = bits == 8 and is_symmetric and group_size is None
    if not plain or any(told.get(k) != v for k, v in wanted.items()):
        return "int-quantized is read as W8A8: int8 rows, dynamic int8 tokens, symmetric", None
    return "", Entry("w8a8", 8, None, True)


def _is_names(value) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


# What patterns of real checkpoints are made of. Anything else could take for ever to match.
SIMPLE = re.compile(r"\^?(?:[\w-]|\\\.|\.\*|\.|\\d\+|\[0-9\]\+)+\$?", re.ASCII)
MOST_STARS, MOST_PATTERNS = 3, 500  # so many patterns stay compiled


def _matches(name: str, target: str) -> bool:
    """Whether a target (already checked) names this module: the name itself, or re:PATTERN."""
    return re.match(target[3:], name) is not None if target.startswith("re:") else target == name


def _strange(targets: list[str]) -> str | None:
    """The first target that is a pattern we do not run, or None."""
    for target in targets:
        pattern = target.removeprefix("re:")
        few = len(pattern) <= 200 and pattern.count("*") + pattern.count("+") <= MOST_STARS
        if target.startswith("re:") and not (few and SIMPLE.fullmatch(pattern)):
            return target[:60]
    return None


def _entry_of(name: str, groups, ignored) -> Entry | None:
    """The format of one module: ignored, named, by a pattern or its class; None is dense."""
    if any(_matches(name, target) for target in ignored):
        return None
    named = [e for targets, e in groups if name in targets]
    named += [e for targets, e in groups if any(_matches(name, t) for t in targets)]
    by_class = [e for targets, e in groups if "Linear" in targets]
    return next(iter(named + by_class), None)


def _expected(rows: int, columns: int, entry: Entry) -> dict[str, tuple[tuple[int, ...], tuple]]:
    """{tensor: (shape, dtypes)} of one packed module."""
    groups = 1 if entry.group is None else columns // entry.group
    wanted = {"weight_scale": ((rows, groups), FLOATS)}
    if entry.scheme == "w8a8":
        return wanted | {"weight": ((rows, columns), (torch.int8,))}
    wanted["weight_packed"] = (rows, words_for(columns, entry.bits)), (torch.int32,)
    wanted["weight_shape"] = (2,), (torch.int64, torch.int32)
    if not entry.symmetric:
        shape = (words_for(rows, entry.bits), groups)
        wanted["weight_zero_point"] = shape, (torch.int32,)
    return wanted


def _check(places, columns: int, entry: Entry, stored: dict) -> list[str]:
    faults = []
    for name, rows in places:
        if entry.group is not None and columns % entry.group:
            faults.append(f"{name}: groups of {entry.group} do not divide {columns} columns")
            continue
        for tensor, (shape, dtypes) in _expected(rows, columns, entry).items():
            kind = "a float type" if dtypes is FLOATS else dtypes[0]
            held = stored.get(f"{name}.{tensor}")
            if held is None:
                faults.append(f"{name}.{tensor} is missing")
            elif held.shape != shape or held.dtype not in dtypes:
                faults.append(f"{name}.{tensor} is {held.dtype} {list(held.shape)}, "
                              f"{list(shape)} of {kind} is needed")  # fmt: skip
    return faults


def _read_layer(places, layer: nn.Linear, entry: Entry, stored: dict, device) -> QuantLinear:
    codes, scales, zeros = [], [], []
    for name, rows in places:
        read = {t: _take(stored, f"{name}.{t}") for t in _expected(rows, layer.in_features, entry)}
        shape = read.get("weight_shape", torch.tensor([rows, layer.in_features])).tolist()
        if shape != [rows, layer.in_features]:
            raise LoadError(f"{name}.weight_shape says {shape}, not [{rows}, {layer.in_features}]")
        if fault := _scale_fault(read["weight_scale"], entry.bits):
            raise LoadError(f"{name}.weight_scale holds {fault}")
        scales.append(read["weight_scale"])
        if entry.scheme == "w8a8":
            codes.append(read["weight"])
        else:
            codes.append(unpack(read["weight_packed"], entry.bits, layer.in_features))
        if not entry.symmetric:
            zeros.append(unpack_zeros(read["weight_zero_point"], entry.bits, rows))
    zero = torch.cat(zeros) if zeros else None
    group = entry.group or layer.in_features
    codes_NK, scale_NG = torch.cat(codes).to(device), torch.cat(scales).to(device)
    zero = None if zero is None else zero.to(device)
    # The bias is read with the other dense tensors: until then it has no values.
    return QuantLinear(Coded(codes_NK, scale_NG, zero, group), entry.scheme, bias=layer.bias)


def _scale_fault(scale_NG, bits: int) -> str:
    """Why no weight can have such a scale, or "". Writers give a group of zeros a scale above 0."""
    if not scale_NG.isfinite().all():
        return "inf or NaN"
    if not (scale_NG > 0).all():
        return "a scale that is not above 0"
    if float(scale_NG.max()) * 2**bits > torch.finfo(torch.float32).max:
        return f"{float(scale_NG.max()):.3g}: its weights would not fit float32"
    return ""


def _take(stored: dict, name: str):
    """One tensor, as stored; it is then no longer among those still to be read."""
    from safetensors import SafetensorError, safe_open

    path = stored.pop(name).file
    try:
        with safe_open(path, framework="pt") as file:
            return file.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise LoadError(f"{path} cannot be read: {error}") from None
