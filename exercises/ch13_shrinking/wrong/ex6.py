"""False mends of 13.6."""

from dataclasses import replace

import torch
from torch.nn import ModuleList, Parameter


def _shrink(model, layers, gone, number=lambda new, count: new, ropes=None, sizes=None, cut=True):
    """The mended answer with some parts replaced."""
    c = model.config
    H, G, K = c.num_heads, c.num_kv_heads, c.head_size
    heads = [h for h in range(H) if h % (H // G) != gone]
    rows = (torch.tensor(heads)[:, None] * K + torch.arange(K)).flatten()
    for block in model.layers:
        attention = block.attention
        if not cut:
            lost = [r for r in range(H * K) if r not in rows]
            attention.o.weight[:, lost] = 0
            continue
        qkv_rows = torch.cat((rows, torch.arange(H * K, (H + 2 * G) * K)))
        attention.qkv.weight = Parameter(attention.qkv.weight[qkv_rows])
        attention.o.weight = Parameter(attention.o.weight[:, rows])
        attention.num_heads = len(heads)
    model.layers = ModuleList(model.layers[i] for i in layers)
    for new, block in enumerate(model.layers):
        block.layer = number(new, len(layers))
    wanted = {
        "num_layers": len(layers), "num_heads": len(heads) if cut else H,
        "windows": (), "rope_of_layer": ropes or tuple(c.rope_of_layer[i] for i in layers),
    }  # fmt: skip
    model.config = replace(c, **wanted | (sizes or {}))
    return model


def numbers_from_one(model, layers, gone):
    """layers numbered from 1: the memory never counts the tokens as held"""
    return _shrink(model, layers, gone, number=lambda new, count: new + 1)


def all_the_same(model, layers, gone):
    """one number for all layers: each overwrites the keys and values of the one before"""
    return _shrink(model, layers, gone, number=lambda new, count: count - 1)


def backwards(model, layers, gone):
    """layers numbered from the last to the first: the memory counts the tokens too early"""
    return _shrink(model, layers, gone, number=lambda new, count: count - 1 - new)


def first_ropes(model, layers, gone):
    """the RoPE of the first layers, not of those that stay"""
    return _shrink(model, layers, gone, ropes=model.config.rope_of_layer[: len(layers)])


def a_scale_made_anew(model, layers, gone):
    """head_size ** -0.5 as the scale: this model has a scale of its own, and it stays"""
    return _shrink(model, layers, gone, sizes={"attention_scale": model.config.head_size**-0.5})


def zeros_in_o(model, layers, gone):
    """zeros in the columns of o: the heads are still there, computed and stored"""
    return _shrink(model, layers, gone, cut=False)


def the_old_count(model, layers, gone):
    """num_layers as it was before: the memory waits for a layer that is gone"""
    old = model.config
    sizes = {"num_layers": old.num_layers, "rope_of_layer": old.rope_of_layer}
    ropes = tuple(old.rope_of_layer[i] for i in layers)
    sizes["rope_of_layer"] = ropes + (0,) * (old.num_layers - len(ropes))
    return _shrink(model, layers, gone, sizes=sizes)
