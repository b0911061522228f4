"""Check of 13.3: layers that look back in their text, that only grow, or that do nothing."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="13.3", title="The influence of a layer", kind="code", entry="influence",
    minutes=15, difficulty=2, tolerance="fp32",
    sizes=(
        {"D": 2, "texts": 1, "longest": 1, "layers": 1},
        {"D": 3, "texts": 1, "longest": 4, "layers": 2},
        {"D": 5, "texts": 2, "longest": 11, "layers": 4},
        {"D": 8, "texts": 3, "longest": 20, "layers": 5},
    ),
    hints=(
        "A layer doubles every number of the stream. What is the cosine between before and after? "
        "How much did it do, as this measure sees it?",
        "cosine_T = (x * y).sum(1) / (x.norm(dim=1) * y.norm(dim=1)). Add up all tokens of all "
        "texts, divide by the number of all tokens. y enters the next layer.",
        "total, tokens = [0.0] * len(layers), sum(len(x_TD) for x_TD in texts)\n"
        "for x_TD in texts:\n"
        "    for number, layer in enumerate(layers):\n"
        "        y_TD = layer(x_TD)\n"
        "        total[number] += float(torch.cosine_similarity(x_TD, y_TD, dim=1).sum())\n"
        "        x_TD = ____\n"
        "return [1 - t / tokens for t in total]",
    ),
)  # fmt: skip
HOW = (
    "layers here: x + the turn times tanh(the mean of x up to this token @ a matrix); a negative "
    "turn only multiplies x by its size."
)


TURNS = 1.0, 3.0, -1.5, 0.3, 0.0  # of the layers, from layer 0 on


def make(rng, D, texts, longest, layers):
    """The first text has `longest` tokens. A turn is how much a layer adds to the stream."""
    if min(D, texts, longest, layers) < 1 or layers > len(TURNS):
        raise ValueError(f"a text of a token at least, and 1 to {len(TURNS)} layers")
    lengths = [longest - (5 * i) % longest for i in range(texts)]
    turns = [turn * rng.uniform(0.7, 1.3) for turn in TURNS[:layers]]
    matrix = lambda *shape: normal(rng, *shape, dtype=torch.float64)
    return {
        "texts": [(matrix(T, D) + matrix(1, D)) * rng.uniform(0.5, 2) for T in lengths],
        "matrices": [matrix(D, D) for _ in turns], "turns": turns,
    }  # fmt: skip


def layer(matrix_DD, turn):
    """One layer as a function; like attention it looks at the tokens before."""

    def run(x_TD):
        if turn < 0:
            return -turn * x_TD
        seen_T1 = torch.arange(1, len(x_TD) + 1, dtype=x_TD.dtype)[:, None]
        return x_TD + turn * torch.tanh(x_TD.cumsum(0) / seen_T1 @ matrix_DD)

    return run


def drive(answer, case):
    layers = [layer(*one) for one in zip(case["matrices"], case["turns"])]
    found = answer(layers, case["texts"])
    return list(found) if isinstance(found, tuple) else found


def judge(case, output):
    want = drive(spec.reference("13.3"), case)
    if isinstance(output, torch.Tensor):
        output = output.tolist()
    if not isinstance(output, list) or len(output) != len(want):
        raise Wrong("13.3.list", f"influence must return {len(want)} numbers, one for each layer",
                    got=output)  # fmt: skip
    for number, (got, one) in enumerate(zip(output, want)):
        compare(got, one, TOLERANCES["fp32"], f"the influence of layer {number}", floor=1e-9)
