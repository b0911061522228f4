"""Reference of 13.6."""

from dataclasses import replace

import torch
from torch.nn import ModuleList, Parameter


def shrink(model, layers: list[int], gone: int):
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
    for number, block in enumerate(model.layers):
        block.layer = number
    model.config = replace(
        c,
        num_layers=len(layers),
        num_heads=len(heads),
        windows=tuple(c.windows[i] for i in layers),
        rope_of_layer=tuple(c.rope_of_layer[i] for i in layers),
    )
    return model
