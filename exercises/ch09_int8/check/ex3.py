"""Check of 9.3: what is read after each append, early tokens included, and bytes held."""

import torch
from torch.utils._pytree import tree_leaves

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="9.3", title="Keys and values in int8", kind="code", entry="Int8Strip",
    minutes=25, difficulty=3, tolerance="fp32",
    sizes=(
        {"G": 1, "K": 2, "steps": (1, 1), "spare": 1},
        {"G": 2, "K": 5, "steps": (3, 1, 2), "spare": 0},
        {"G": 3, "K": 16, "steps": (7,) + (1,) * 20, "spare": 9},
    ),
    hints=(
        "Token 1 has the key [1, -2] in head 0 and [0.1, 0.05] in head 1. Which codes has head 1 "
        "with a scale of its own, and which with one scale for both heads?",
        "scale_TG1 = max over K of |x| / 127, shape [T, G, 1]; 1 where that is 0. codes = "
        "round(x / scale), int8 [T, G, K]. Rows length .. length+T-1 are written, no others.",
        "# in append\n"
        "end = self.length + len(x_TGK)\n"
        "scale_TG1 = x_TGK.abs().amax(____, keepdim=True) / 127\n"
        "scale_TG1 = torch.where(scale_TG1 == 0, 1.0, scale_TG1)\n"
        "self.codes[self.length : end] = (x_TGK / scale_TG1).round().to(torch.int8)\n"
        "self.scale[self.length : end] = scale_TG1\n"
        "self.length = end\n"
        "# in read\n"
        "return self.codes[: self.length] * self.scale[: self.length]",
    ),
)  # fmt: skip


def make(rng, G, K, steps, spare):
    def piece(T):  # tokens and heads of very different size, and a head of zeros
        size = torch.tensor([[10 ** rng.uniform(-1.5, 1.5) for _ in range(G)] for _ in range(T)])
        x_TGK = normal(rng, T, G, K) * size[..., None]
        if T > 1:
            x_TGK[rng.randrange(T), rng.randrange(G)] = 0
        return x_TGK

    return {"max_len": sum(steps) + spare, "new_of_each_append": [piece(T) for T in steps]}


def drive(answer, case):
    _, G, K = case["new_of_each_append"][0].shape
    strip, found = answer(case["max_len"], G, K), []
    for x_TGK in case["new_of_each_append"]:
        strip.append(x_TGK)
        out_LGK = strip.read()
        found.append(out_LGK.clone() if isinstance(out_LGK, torch.Tensor) else out_LGK)
    tensors = [t for t in tree_leaves(vars(strip)) if isinstance(t, torch.Tensor)]
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    return {"read_after_each_append": found, "held": sum(storages.values())}


def judge(case, output):
    """What is read, and no more bytes than codes and scales of the whole strip need."""
    want = drive(spec.reference("9.3"), case)
    name = "read_after_each_append"
    compare(output[name], want[name], TOLERANCES["fp32"], name)
    if output["held"] > want["held"] + want["held"] // 8:
        raise Wrong(
            "9.3.held", f"the strip holds {output['held']:,} bytes: a float copy of the numbers? "
            f"Codes and scales are {want['held']:,} bytes",
        )  # fmt: skip
