"""GPTQ and AWQ applied to one block of the model, given what enters its linear layers."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from minillm.compress import awq
from minillm.compress.gptq import gptq


@dataclass(frozen=True)
class Rules:
    """How a layer's numbers are to be kept."""

    bits: int
    group: int | None
    symmetric: bool
    scale_dtype: torch.dtype | None
    act_order: bool = True
    clip: bool = False


def by_gptq(config, rules: Rules, coder, place):
    """A `change` for calibrate.walk: every linear layer of the block by GPTQ."""

    def change(number: int, block: nn.Module, found) -> None:
        for name, inputs in found.items():
            weight = block.get_submodule(name).weight
            coded = gptq(
                weight, inputs.hessian_KK, rules.bits, rules.group, rules.symmetric,
                rules.act_order, scale_dtype=rules.scale_dtype,
            )  # fmt: skip
            place(block, name, coded)

    return change


def by_awq(config, rules: Rules, coder, place):
    """A `change` for calibrate.walk: scales are searched, folded into what comes before, rounded.

    Norms take the scales of q, k, v and of gate and up; the rows of up take those of down. Those of
    o go into the rows of v, where every query head has a v head of its own; with grouped heads
    several columns of o share one row of v, and o is only rounded.
    """

    def change(number: int, block: nn.Module, found) -> None:
        for name, fold in folds(block, config):
            layer, inputs = block.get_submodule(name), found[name]
            scale_K = awq.best_scale(layer.weight, inputs, coder)
            scaled = (layer.weight.double() * scale_K).to(layer.weight.dtype)
            layer.weight = nn.Parameter(scaled, requires_grad=False)
            found[name] = inputs.divided(scale_K)
            fold(scale_K)
        for name, inputs in found.items():
            weight = block.get_submodule(name).weight
            coded = awq.clipped(weight, inputs, coder) if rules.clip else coder(weight)
            place(block, name, coded)

    return change


def folds(block: nn.Module, config) -> list:
    """[(linear layer, what to do with 1 / scale of its inputs)], rows before norms.

    A change of rows leaves the layer's own inputs alone, so the order does not matter to them; but
    the rows must have their final size before their own columns are scaled.
    """
    heads, groups, size = config.num_heads, config.num_kv_heads, config.head_size
    attention, mlp = block.attention, block.mlp
    found = [("mlp.down", lambda s: awq.fold_into_rows(mlp.gate_up, s, config.mlp_width))]
    if heads == groups:
        start = (heads + groups) * size
        found.append(("attention.o", lambda s: awq.fold_into_rows(attention.qkv, s, start)))
    found.append(("attention.qkv", lambda s: awq.fold_into_norm(block.attention_norm, s)))
    found.append(("mlp.gate_up", lambda s: awq.fold_into_norm(block.mlp_norm, s)))
    return found
