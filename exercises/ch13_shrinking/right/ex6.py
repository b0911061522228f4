"""Other right answers of 13.6."""

from dataclasses import replace

import torch
from torch.nn import ModuleList, Parameter


def by_views(model, layers, gone):
    """Weights as heads: [H + 2 G, K, D] and [D, H, K]."""
    c = model.config
    place = torch.arange(c.num_heads).view(c.num_kv_heads, -1)
    kept = torch.cat((place[:, :gone], place[:, gone + 1 :]), dim=1).flatten()
    others = torch.arange(c.num_heads, c.num_heads + 2 * c.num_kv_heads)
    config = replace(
        c, num_layers=len(layers), num_heads=len(kept), windows=(),
        rope_of_layer=[c.rope_of_layer[i] for i in layers],
    )  # fmt: skip
    blocks = []
    for old in layers:
        block = model.layers[old]
        block.layer = len(blocks)
        a, K = block.attention, c.head_size
        qkv = a.qkv.weight.view(-1, K, c.width)[torch.cat((kept, others))]
        a.qkv.weight = Parameter(qkv.flatten(0, 1))
        a.o.weight = Parameter(a.o.weight.view(c.width, -1, K)[:, kept].flatten(1))
        a.num_heads = config.num_heads
        blocks.append(block)
    model.layers, model.config = ModuleList(blocks), config
    return model


def a_new_model(model, layers, gone):
    """Another Transformer, filled with copies."""
    c = model.config
    H, G, K = c.num_heads, c.num_kv_heads, c.head_size
    stays = torch.ones(G, H // G, K, dtype=torch.bool)
    stays[:, gone] = False
    columns = stays.flatten()
    rows = torch.cat((columns, torch.ones(2 * G * K, dtype=torch.bool)))
    of = lambda values: tuple(values[i] for i in layers)
    config = replace(
        c, num_layers=len(layers), num_heads=H - G, windows=of(c.windows),
        rope_of_layer=of(c.rope_of_layer),
    )  # fmt: skip
    new = type(model)(config).to(model.embedding.weight.dtype)
    for name in ("embedding", "norm", "head"):
        getattr(new, name).load_state_dict(getattr(model, name).state_dict())
    for block, old in zip(new.layers, of(model.layers)):
        state = old.state_dict()
        state["attention.qkv.weight"] = state["attention.qkv.weight"][rows]
        state["attention.o.weight"] = state["attention.o.weight"][:, columns]
        block.load_state_dict(state)
    return new
