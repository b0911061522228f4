"""Exercise 13.6: find the fault.

Users say: the shrunk model writes nonsense. No error, no odd shape, and the numbers of layers,
heads and weights are what was asked for.

`shrink` takes parts out of a model, in place, and returns it. Only the layers in `layers` stay (old
numbers, ascending). In every layer and every group of query heads, the query head at place `gone`
of the group is removed. What is left must compute what the old model computes when it jumps over
the other layers and those heads add nothing. Find the fault and mend it.

A block calls memory.attend(block.layer, q_THK, k_TGK, v_TGK). The engine has one memory of keys and
values, made for the old model, with a place for each old layer. It multiplies q . k by
config.attention_scale, and counts the new tokens as held when layer config.num_layers - 1 has
attended.
"""

from dataclasses import replace

import torch
from torch.nn import ModuleList, Parameter


def shrink(model, layers: list[int], gone: int):
    """model: a minillm Transformer with H query heads and G KV heads of size K."""
    c = model.config
    H, G, K = c.num_heads, c.num_kv_heads, c.head_size
    heads = [h for h in range(H) if h % (H // G) != gone]
    rows = (torch.tensor(heads)[:, None] * K + torch.arange(K)).flatten()
    keys_and_values = torch.arange(H * K, (H + 2 * G) * K)
    for block in model.layers:
        attention = block.attention
        qkv_rows = torch.cat((rows, keys_and_values))
        attention.qkv.weight = Parameter(attention.qkv.weight[qkv_rows])
        attention.o.weight = Parameter(attention.o.weight[:, rows])
        attention.num_heads = len(heads)
    model.layers = ModuleList(model.layers[i] for i in layers)
    model.config = replace(
        c,
        num_layers=len(layers),
        num_heads=len(heads),
        windows=tuple(c.windows[i] for i in layers),
        rope_of_layer=tuple(c.rope_of_layer[i] for i in layers),
    )
    return model
