"""Check of 13.6: the shrunk model with a cache against the old one that jumps over, in float64."""

import random

import torch

from exercises.grading.judge import Wrong, compare, normal
from exercises.grading.spec import Exercise
from minillm import ops
from minillm.cache.simple import NoCache
from minillm.config import ModelConfig, RopeConfig
from minillm.model import Transformer

EXERCISE = Exercise(
    id="13.6", title="The shrunk model writes nonsense", kind="hunt", entry="shrink",
    minutes=10, difficulty=3, tolerance="fp64",
    sizes=(
        {"stay": [1], "G": 1, "size": 2}, {"stay": [0, 2, 3], "G": 2, "size": 3},
        {"stay": [1, 2, 4], "G": 3, "size": 2}, {"stay": [0, 1], "G": 2, "size": 4},
        {"stay": [0, 1, 2, 3, 4], "G": 2, "size": 3},
    ),
    hints=(
        "6 query heads, 2 KV heads, `gone` is 1, head size 4: which heads are removed, which rows "
        "of q are theirs, which columns of o? Of 5 layers 1, 2 and 4 stay: which number has each "
        "block? And what does not change? Answer from the text above, then print yours.",
        "Kept: h % (H / G) != gone. Block i of the new model has block.layer = i. Rows of qkv and "
        "COLUMNS of o belong to the same heads. The head size does not change, nor does "
        "config.attention_scale.",
        "# one of these is missing or different in yours; the rest is right\n"
        "heads = [h for h in range(H) if h % (H // G) != gone]\n"
        "attention.o.weight = Parameter(attention.o.weight[:, rows])\n"
        "for number, block in enumerate(model.layers):\n"
        "    block.layer = number\n"
        "replace(c, ...)  # attention_scale: the model's own is ____",
    ),
)  # fmt: skip
VOCAB, LAYERS, HEAD_SIZE, PLACES = 11, 5, 4, 64


def make(rng, stay, G, size):
    """stay: layers that stay. G KV heads, each with `size` query heads; one of these is gone."""
    if size < 2 or G < 1 or not stay or len(set(stay)) < len(stay):
        raise ValueError("a group keeps at least one head, and a layer stays once")
    tokens = [rng.randrange(VOCAB) for _ in range(rng.randint(5, 8))]
    return {
        "seed": rng.getrandbits(40), "layers": sorted(stay), "gone": rng.randrange(size),
        "G": G, "size": size, "tokens": tokens, "prompt": rng.randint(2, 3),
    }  # fmt: skip


def _config(case) -> ModelConfig:
    """Two kinds of RoPE by turns; a width that is no multiple of the heads' size."""
    return ModelConfig(
        family="llama", vocab_size=VOCAB, width=22, mlp_width=18, num_layers=LAYERS,
        num_heads=case["G"] * case["size"], num_kv_heads=case["G"], head_size=HEAD_SIZE, max_len=64,
        attention_scale=0.8,  # of its own: made anew from the head size it would be 0.5
        ropes=(RopeConfig(), RopeConfig(theta=30.0)), rope_of_layer=(0, 1, 1, 0, 1),
    )  # fmt: skip


def _model(case) -> Transformer:
    """Random weights, large enough that attention looks sharply."""
    model, rng = Transformer(_config(case)).double(), random.Random(case["seed"])
    for parameter in model.parameters():
        if parameter.dim() == 2:
            size = 1.5 * parameter.shape[1] ** -0.5
            parameter.data = normal(rng, *parameter.shape, dtype=torch.float64, scale=size)
    return model


class Memory:
    """K and V with a place for each old layer, full of what others have left there."""

    def __init__(self, config, old):
        self.config, self.length = config, 0
        shape = (old.num_layers, 2, PLACES, old.num_kv_heads, old.head_size)
        self.kv = normal(random.Random("left by others"), *shape, dtype=torch.float64)

    def attend(self, layer, q_THK, k_TGK, v_TGK):
        start, end = self.length, self.length + len(k_TGK)
        k_LGK, v_LGK = self.kv[layer]
        k_LGK[start:end], v_LGK[start:end] = k_TGK, v_TGK
        if layer == self.config.num_layers - 1:
            self.length = end
        return ops.attention(q_THK, k_LGK[:end], v_LGK[:end], self.config.attention_scale)


@torch.no_grad()
def drive(answer, case):
    model = answer(_model(case), list(case["layers"]), case["gone"])
    if not isinstance(model, Transformer):
        return {"model": type(model).__name__}
    memory = Memory(model.config, _config(case))
    tokens_T, prompt = torch.tensor(case["tokens"]), case["prompt"]
    parts = [tokens_T[:prompt], *tokens_T[prompt:].split(1)]
    logits_TV = torch.cat([model(part, memory=memory) for part in parts])
    c = model.config
    numbers = (c.num_layers, c.num_heads, c.num_kv_heads, c.head_size, model.num_parameters())
    return {"logits": logits_TV, "held": memory.length, "sizes": list(numbers)}


@torch.no_grad()
def _wanted(case):
    """The old model without a cache: it jumps over layers, and o reads nothing from those heads."""
    model, tokens_T = _model(case), torch.tensor(case["tokens"])
    c, memory = model.config, NoCache(model.config)
    x_TD = model.embedding(tokens_T)
    ropes = model.rope_tables(torch.arange(len(tokens_T)), torch.float64)
    for number in case["layers"]:
        block = model.layers[number]
        for head in range(case["gone"], c.num_heads, case["size"]):
            block.attention.o.weight[:, head * HEAD_SIZE : (head + 1) * HEAD_SIZE] = 0
        x_TD = block(x_TD, ropes[c.rope_of_layer[number]], memory)
    return model.head(model.norm(x_TD))


NAMES = "num_layers", "num_heads", "num_kv_heads", "head_size", "number of weights"


def judge(case, output):
    if not isinstance(output, dict) or "logits" not in output:
        raise Wrong("13.6.model", "shrink must return the model", got=output)
    c, n = _config(case), len(case["layers"])
    heads = c.num_heads - case["G"]
    layer = c.width * (2 * heads * HEAD_SIZE + 2 * case["G"] * HEAD_SIZE + 3 * c.mlp_width + 2)
    weights = n * layer + 2 * VOCAB * c.width + c.width
    want = (n, heads, case["G"], HEAD_SIZE, weights)
    for name, mine, one in zip(NAMES, output["sizes"], want):
        if mine != one:
            raise Wrong(
                "13.6.size", f"the {name} of the shrunk model is not right", None, one, mine
            )
    try:
        # fp64; a mend may add up in another order
        compare(output["logits"], _wanted(case), 1e-9, what="logits")
    except Wrong as wrong:
        if wrong.id == "value":
            what = (
                f"layers {case['layers']} of {LAYERS} stay, place {case['gone']} of a group is gone"
            )
            wrong.message = f"{what}: the logits are not those of the old model without these parts"
            held, tokens = output["held"], len(case["tokens"])
            if held != tokens:
                wrong.message += f", and the memory counts {held} of {tokens} tokens as held"
        raise
    if output["held"] != len(case["tokens"]):
        said = f"the memory holds {output['held']} of {len(case['tokens'])} tokens"
        raise Wrong("13.6.memory", f"right, but {said}")
