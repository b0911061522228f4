"""Check of 6.6: halves of different size and height against the softmax of the whole."""

import torch

from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.6", title="Merge two halves of a softmax", kind="code", entry="merge",
    minutes=20, difficulty=3, tolerance="fp32",
    sizes=(
        {"H": 1, "K": 2, "left": 1, "right": 1, "height": 1, "rounds": 1},
        {"H": 3, "K": 5, "left": 7, "right": 4, "height": 5, "rounds": 2},
        {"H": 4, "K": 3, "left": 9, "right": 0, "height": 2, "rounds": 1},
        {"H": 5, "K": 8, "left": 3, "right": 20, "height": 900, "rounds": 1},
        {"H": 2, "K": 4, "left": 0, "right": 6, "height": 40, "rounds": 3},
    ),
    hints=(
        "Half a has the scores [2], half b the score [5]. Then sum is 1 in both. The whole, with "
        "max 5, is exp(2 - 5) + exp(5 - 5). With what must the 1 of half a be multiplied?",
        "max = maximum(max_a, max_b). weight_a = exp(max_a - max), weight_b = exp(max_b - max). "
        "sum = weight_a * sum_a + weight_b * sum_b, and acc likewise. Weights [H] need [:, None] "
        "for acc [H, K].",
        "max_H = torch.maximum(a[0], b[0])\n"
        "weight_a_H, weight_b_H = torch.exp(a[0] - max_H), torch.exp(____)\n"
        "sum_H = weight_a_H * a[1] + weight_b_H * b[1]\n"
        "acc_HK = weight_a_H[:, None] * a[2] + weight_b_H[:, None] * b[2]\n"
        "return max_H, sum_H, acc_HK",
    ),
)  # fmt: skip


def make(rng, H, K, left, right, height, rounds):
    """Pieces of a text: scores [H, L] and values [L, H, K]; merged from left to right."""
    if not left + right:
        raise ValueError("both halves are empty")
    pieces = []
    for piece in range(rounds + 1):
        count = left if piece == 0 else right if piece == 1 else rng.randrange(1, 6)
        middle = [(rng.random() - 0.5) * 2 * height for _ in range(H)]
        scores_HL = normal(rng, H, count) + torch.tensor(middle)[:, None]
        pieces.append((scores_HL, normal(rng, count, H, K)))
    return {"scores_and_values": pieces}


def triple(scores_HL, v_LHK):
    """What a worker hands over."""
    if not scores_HL.shape[1]:
        H, K = v_LHK.shape[1:]
        return torch.full((H,), -torch.inf), torch.zeros(H), torch.zeros(H, K)
    max_H = scores_HL.amax(1)
    exp_HL = torch.exp(scores_HL - max_H[:, None])
    return max_H, exp_HL.sum(1), torch.einsum("hl,lhk->hk", exp_HL, v_LHK)


def drive(answer, case):
    first, *others = [triple(*piece) for piece in case["scores_and_values"]]
    for other in others:
        first = answer(first, other)
    return list(first) if isinstance(first, (tuple, list)) else first


def calls(case, mine):
    """For explain: the triples themselves, merged from left to right."""
    from exercises.desk.explain import literal

    lines = ["import torch", ""]
    for name, piece in zip("abcdefgh", case["scores_and_values"]):
        parts = ",\n     ".join(literal(part) for part in triple(*piece))
        lines += [f"# the scores of this part are {piece[0].tolist()}", f"{name} = ({parts})"]
    lines.append(f"merged = {mine}(a, b)")
    for name in "cdefgh"[: len(case["scores_and_values"]) - 2]:
        lines.append(f"merged = {mine}(merged, {name})")
    return [*lines, "print(merged)"]


def judge(case, output):
    """Against the softmax of the whole, in float64: no merge anywhere."""
    if not isinstance(output, list) or len(output) != 3:
        raise Wrong("6.6.triple", "merge must return three tensors: max_H, sum_H, acc_HK")
    scores, values = zip(*case["scores_and_values"])
    want = triple(torch.cat(scores, 1).double(), torch.cat(values).double())
    # Scores are rounded to float32 when a maximum is subtracted: 2^-24 of their size.
    size = float(want[0].abs().max())
    tolerance = TOLERANCES["fp32"] + 2 * size * 2**-24
    names = ("max_H", "sum_H", "acc_HK")
    for name, got, right in zip(names, output, want):
        compare(got, right.float(), tolerance, what=name)
