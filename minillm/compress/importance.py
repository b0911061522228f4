"""What a channel, a head or a layer adds to the output: by its weights alone, or on real text.

On text the measure of a channel or a head is the expected size of what it adds to the residual
stream, E|W_j x_j|^2 over calibration tokens; of a layer, how much it turns what passes through it.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minillm.cache.simple import NoCache
from minillm.compress.calibrate import _embed, check_texts, walk


@dataclass(frozen=True)
class Importance:
    """One layer's parts; only the order within a layer means something."""

    heads_H: Tensor  # float64
    channels_F: Tensor  # float64


@torch.no_grad()
def importance(model, calibration=None, progress=None) -> list[Importance]:
    """For each layer, of its query heads and of its MLP channels.

    calibration: texts as token ids (see quantize); None judges by the weights alone.
    """
    config = model.config
    if calibration is None:
        return [by_weights(block, config) for block in model.layers]
    found = []

    def look(number: int, block: nn.Module, inputs) -> None:
        o, down = block.attention.o.weight.double(), block.mlp.down.weight.double()
        count, size = config.num_heads, config.head_size
        hessian = inputs["attention.o"].hessian_KK.view(count, size, count, size)
        inside_HKK = torch.stack([hessian[h, :, h] for h in range(count)])  # sums of x_h x_h^T
        o_HDK = o.view(-1, count, size).transpose(0, 1)
        heads_H = ((o_HDK @ inside_HKK) * o_HDK).sum((1, 2))  # trace of O_h E[x x^T] O_h^T
        channels_F = inputs["mlp.down"].square_K * down.square().sum(0)
        found.append(Importance(heads_H, channels_F))

    walk(model, check_texts(model, calibration), look, progress)
    return found


def by_weights(block: nn.Module, config) -> Importance:
    """Products of norms: what a part could add if every input were equally likely."""
    heads, groups, size = config.num_heads, config.num_kv_heads, config.head_size
    qkv, o = block.attention.qkv.weight.double(), block.attention.o.weight.double()
    v_G = qkv[(heads + groups) * size :].reshape(groups, -1).norm(dim=1)
    o_H = o.reshape(-1, heads, size).norm(dim=(0, 2))
    gate_F, up_F = block.mlp.gate_up.weight.double().norm(dim=1).chunk(2)
    down_F = block.mlp.down.weight.double().norm(dim=0)
    return Importance(v_G.repeat_interleave(heads // groups) * o_H, gate_F * up_F * down_F)


@torch.no_grad()
def block_influence(model, calibration, progress=None) -> list[float]:
    """1 - cosine of what enters and what leaves each layer, mean over tokens (Men et al. 2024).

    A layer near 0 hardly turns the residual stream: ShortGPT removes such layers first. It looks
    at one layer at a time; what removal really costs must be measured afterwards.
    """
    texts = check_texts(model, calibration)
    streams = [_embed(model, t) for t in texts]
    ropes = [model._next_tables(0, len(t), x) for t, x in zip(texts, streams)]
    memory, tokens = NoCache(model.config), sum(len(t) for t in texts)
    found, blocks = [], list(enumerate(model.layers))
    for number, block in progress(blocks) if progress else blocks:
        which, total = model.config.rope_of_layer[number], 0.0
        for i, x_TD in enumerate(streams):
            streams[i] = block(x_TD, ropes[i][which], memory)
            total += float(F.cosine_similarity(x_TD.double(), streams[i].double(), dim=-1).sum())
        found.append(1 - total / tokens)
    return found


def layers_by_weights(model) -> list[float]:
    """The norm of what each layer's matrices write to the residual stream, without any text."""
    norm = lambda linear: float(linear.weight.double().norm())
    return [norm(b.attention.o) + norm(b.mlp.down) for b in model.layers]
