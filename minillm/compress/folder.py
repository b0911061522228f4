"""A quantised model as a compressed-tensors checkpoint: names, tensors, quantization_config.

The format of vLLM and of transformers with the package compressed-tensors; docs of that project
call the two layouts used here `pack-quantized` (weights only) and `int-quantized` (W8A8).
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from minillm.compress.formats import Coded, symmetric
from minillm.compress.linear import QuantLinear
from minillm.compress.packing import pack, unpack, words_for
from minillm.files import SaveError
from minillm.model import qkv_rows

NEAREST = {"nf4": "int4 with group_size=64", "outlier": "w8a8 without outlier"}


def parts(name: str, rows: int, config) -> list[tuple[str, int]]:
    """One of our linear layers as a checkpoint has it -> [(module name, its rows)]."""
    from minillm.weights import hf_names

    names = [n.removesuffix(".weight") for n in hf_names(f"{name}.weight", config)]
    sizes = qkv_rows(config) if len(names) == 3 else [rows // len(names)] * len(names)
    return list(zip(names, sizes, strict=True))


def quantised_tensors(model) -> tuple[dict[str, Tensor], dict | None]:
    """Tensors of all packed layers under a checkpoint's names, and its quantization_config.

    ({}, None) for a dense model. A group that does not divide in_features has no place in the
    format: such a layer is coded again with one scale a row, with one warning that names it.
    Raises SaveError for NF4 and the outlier split, naming the nearest scheme that can be saved.
    """
    tensors, groups, again = {}, {}, []
    for name, layer in model.named_modules():
        if isinstance(layer, QuantLinear):
            coded = _saveable(name, layer, again)
            places = parts(name, layer.out_features, model.config)
            groups.setdefault(_weights_entry(layer, coded), []).extend(n for n, _ in places)
            tensors |= _tensors(layer, coded, places)
    if again:
        warnings.warn(
            f"{len(again)} layers have a group that does not divide their in_features and were "
            f"saved with one scale a row: {', '.join(again[:4])}",
            stacklevel=3,
        )
    return tensors, _config(model, groups) if groups else None


def check_scheme(what: str, where: str) -> None:
    """Raises SaveError for a scheme ("outlier": the split) that the format has no place for."""
    if what in NEAREST:
        raise SaveError(
            f"{where}: compressed-tensors has no place for {what}; save {NEAREST[what]} instead"
        )


def _saveable(name: str, layer: QuantLinear, again: list[str]) -> Coded:
    check_scheme("outlier" if layer.outlier is not None else layer.scheme, name)
    coded = Coded(layer.codes(), layer.scales(), layer.zero, layer.group)
    if layer.in_features % layer.group:
        again.append(name)
        coded = symmetric(layer.dequantize(), layer.bits, None, coded.scale_NG.dtype)
    return coded


def _tensors(layer: QuantLinear, coded: Coded, places: list[tuple[str, int]]) -> dict[str, Tensor]:
    found, start, columns = {}, 0, layer.in_features
    for name, rows in places:
        part = slice(start, start + rows)
        codes_NK, start = coded.codes_NK[part], start + rows
        if layer.scheme == "w8a8":
            found[f"{name}.weight"] = codes_NK
        else:
            found[f"{name}.weight_packed"] = pack(codes_NK, layer.bits)
            found[f"{name}.weight_shape"] = torch.tensor([rows, columns])
        found[f"{name}.weight_scale"] = coded.scale_NG[part]
        if coded.zero_NG is not None:
            found[f"{name}.weight_zero_point"] = pack_zeros(coded.zero_NG[part], layer.bits)
    return found


def pack_zeros(zero_NG: Tensor, bits: int) -> Tensor:
    """Zero points are packed along the rows -> int32 [ceil(N * bits / 32), G]."""
    return pack(zero_NG.T.contiguous(), bits).T.contiguous()


def unpack_zeros(words: Tensor, bits: int, rows: int) -> Tensor:
    """-> int8 [rows, G]."""
    assert words.shape[0] == words_for(rows, bits)
    return unpack(words.T.contiguous(), bits, rows).T.contiguous()


def _weights_entry(layer: QuantLinear, coded: Coded) -> tuple:
    """What distinguishes one group of layers from another."""
    whole = coded.group >= layer.in_features
    group = None if whole else coded.group
    return layer.scheme, layer.bits, group, coded.zero_NG is None


def _config(model, groups: dict[tuple, list[str]]) -> dict:
    """quantization_config; the largest group stands for all Linear, the others are named."""
    order = sorted(groups, key=lambda g: -len(groups[g]))
    table, formats = {}, set()
    for number, key in enumerate(order):
        scheme, bits, group, is_symmetric = key
        strategy = "channel" if group is None else "group"
        weights = {"num_bits": bits, "type": "int", "symmetric": is_symmetric, "dynamic": False,
                   "strategy": strategy, "group_size": group}  # fmt: skip
        inputs = None
        if scheme == "w8a8":
            inputs = {"num_bits": 8, "type": "int", "symmetric": True, "dynamic": True,
                      "strategy": "token"}  # fmt: skip
        layout = "int-quantized" if scheme == "w8a8" else "pack-quantized"
        formats.add(layout)
        table[f"group_{number}"] = {
            "targets": ["Linear"] if number == 0 else sorted(groups[key]),
            "weights": weights, "input_activations": inputs, "output_activations": None,
            "format": layout,
        }  # fmt: skip
    head = isinstance(model.head, QuantLinear)
    return {
        "quant_method": "compressed-tensors",
        "quantization_status": "compressed",
        "format": formats.pop() if len(formats) == 1 else "mixed-precision",
        "config_groups": table,
        "ignore": [] if head else ["lm_head"],
    }
