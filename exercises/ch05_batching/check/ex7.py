"""Check of 5.7: each row against its own text alone, in float64; the model is the package's."""

import random

import torch

from exercises.grading.judge import Wrong, normal
from exercises.grading.spec import Exercise
from minillm.config import ModelConfig
from minillm.model import Transformer

EXERCISE = Exercise(
    id="5.7", title="Left padding, and the second token is wrong", kind="hunt", entry="next_logits",
    minutes=20, difficulty=4, tolerance="fp64",
    sizes=(
        {"lengths": (1, 2)}, {"lengths": (3, 3)}, {"lengths": (6, 2)}, {"lengths": (4, 9, 1, 7)},
        {"lengths": (5,)},
    ),
    hints=(
        "Prompts of 1 and 2 tokens. The short row is [pad, a]. Which position has `a` when its "
        "text is read alone, and which one here? Which position has the token after it? How far "
        "apart must the two be?",
        "pos = number of real tokens before it in its row: cumsum of seen, minus 1. The new token: "
        "the number of real tokens in its row. A key is seen only where a real token stands.",
        "pos_BC = (seen_BC.cumsum(1) - 1).clamp(min=0)\n"
        "pos_B1 = ____\n"
        "seen_BL = torch.cat([seen_BC, torch.ones(len(prompts), 1, dtype=torch.bool)], 1)",
    ),
)  # fmt: skip
HOW = (
    "seed makes the small model of the check. What your function hands to it is small: print "
    "pos_BC, pos_B1 and what is seen, and compare each row with its text alone"
)
VOCAB, PAD = 37, 36
CONFIG = ModelConfig(
    family="llama", vocab_size=VOCAB, width=24, mlp_width=40, num_layers=2,
    num_heads=6, num_kv_heads=2, head_size=4, max_len=64,
)  # fmt: skip


def make(rng, lengths):
    draw = lambda count: [rng.randrange(PAD) for _ in range(count)]
    prompts = [draw(count) for count in lengths]
    return {"seed": rng.getrandbits(40), "prompts": prompts, "new": draw(len(prompts))}


def _model(seed):
    """Random weights, large enough that attention looks sharply."""
    model, rng = Transformer(CONFIG).double(), random.Random(seed)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            size = 1.5 * parameter.shape[1] ** -0.5
            parameter.data = normal(rng, *parameter.shape, dtype=torch.float64, scale=size)
    return model


class Rectangle:
    """A memory of B rows side by side, for texts that are padded on the left."""

    length = 0

    def __init__(self):
        self.kept, self.seen_BL = {}, None

    def attend(self, layer, q_THK, k_TGK, v_TGK):
        B, L = self.seen_BL.shape
        rows = lambda x: x.view(B, -1, *x.shape[1:]).transpose(1, 2)
        q, k, v = rows(q_THK), rows(k_TGK), rows(v_TGK)
        if layer in self.kept:
            k = torch.cat([self.kept[layer][0], k], 2)
            v = torch.cat([self.kept[layer][1], v], 2)
        self.kept[layer] = k, v
        C, share = q.shape[2], q.shape[1] // k.shape[1]
        scores = q @ k.repeat_interleave(share, 1).transpose(-1, -2) * CONFIG.attention_scale
        late_CL = torch.ones(C, L, dtype=torch.bool).triu(L - C + 1)
        hidden = late_CL | ~self.seen_BL[:, None, None]
        probs = scores.masked_fill(hidden, -1e300).softmax(-1)  # a pad's row must not be NaN
        out = probs @ v.repeat_interleave(share, 1)
        return out.transpose(1, 2).reshape(q_THK.shape)


def drive(answer, case):
    transformer, memory = _model(case["seed"]), Rectangle()

    def model(tokens_BC, pos_BC, seen_BL):
        memory.seen_BL = seen_BL
        logits = transformer(tokens_BC.reshape(-1), pos_BC.reshape(-1), memory)
        return logits.view(*tokens_BC.shape, -1)

    with torch.no_grad():
        return answer(model, case["prompts"], torch.tensor(case["new"]), PAD)


def judge(case, output):
    """Every text alone, at once, without padding: nothing here knows of a rectangle."""
    model, count = _model(case["seed"]), len(case["prompts"])
    if not isinstance(output, torch.Tensor) or tuple(output.shape) != (2, count, VOCAB):
        raise Wrong("shape", f"return logits of shape [2, {count}, {VOCAB}]", got=output)
    lengths = [len(p) for p in case["prompts"]]
    for row, (prompt, new) in enumerate(zip(case["prompts"], case["new"])):
        with torch.no_grad():
            want = model(torch.tensor([*prompt, new]))[-2:]
        for which, name in enumerate(("prompt", "new token")):
            got_V, want_V = output[which, row], want[which]
            off = float((got_V - want_V).abs().max() / want.abs().max())
            if not off <= 1e-9:  # fp64
                text = f"prompts of {lengths} tokens: after its {name} row {row} has other logits"
                text += " than its text alone (below: the first four)"
                few = lambda x_V: [round(x, 3) for x in x_V[:4].tolist()]
                raise Wrong("5.7.logits", text, (which, row), few(want_V), few(got_V))
