"""Check of 12.4: two of every four with ties, the packed form, bytes that the check made."""

import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="12.4", title="Two of every four", kind="code", entry="TwoOfFour",
    minutes=30, difficulty=3,
    sizes=(
        {"N": 1, "K": 4}, {"N": 2, "K": 8}, {"N": 3, "K": 12}, {"N": 5, "K": 28},
        {"N": 2, "K": 6}, {"N": 4, "K": 9}, {"N": 8, "K": 20}, {"N": 7, "K": 64},
        {"N": 4, "K": 4, "equal": 1},
    ),
    hints=(
        "A group is 3, -5, 1, 4. Which two stay, and at which places? In a byte the first place "
        "stands in the lowest 2 bits, the second above it: which number do these two give?",
        "grouped = |w| as [N, K/4, 4]; its stable argsort, the first 2 are dropped. "
        "place = (column % 4) of every kept weight, [N, K/2]. byte = the sum of place i << 2 i, "
        "i = 0 .. 3. column of value v = 4 * (v // 2) + place.",
        "# keep\n"
        "order_NG4 = weight_NK.abs().unflatten(1, (-1, 4)).argsort(dim=-1, stable=True)\n"
        "mask_NG4 = torch.ones_like(order_NG4, dtype=torch.bool)\n"
        "return mask_NG4.scatter(-1, order_NG4[..., :2], False).flatten(1)\n"
        "# pack\n"
        "mask_NK, V = self.keep(weight_NK), K // 2\n"
        "place_NV = (torch.arange(K) % 4).expand(N, K)[mask_NK].view(N, V)\n"
        "fields_NB4 = F.pad(place_NV, (0, -V % 4)).unflatten(1, (-1, 4))\n"
        "bytes_NB = (fields_NB4 << torch.tensor([0, 2, 4, 6])).sum(-1).to(torch.uint8)\n"
        "return weight_NK[mask_NK].view(N, V), bytes_NB\n"
        "# unpack\n"
        "place_NV = (bytes_NB[..., None].int() >> torch.tensor([0, 2, 4, 6]) & 3)"
        ".flatten(1)[:, :V]\n"
        "column_NV = 4 * (torch.arange(V) // ____) + place_NV\n"
        "return torch.zeros(N, 2 * V).scatter(1, column_NV, value_NV)",
    ),
)  # fmt: skip


METHODS = {"pack": "values", "unpack": "unpack"}  # and a part of the output that it gives


def make(rng, N, K, equal=0):
    """Weights as int4 left them: ties in many groups, some zeros. Another matrix to unpack.

    equal: in every four the second and the third in size are equal, so a tie decides.
    """
    step = rng.uniform(0.01, 0.2)
    codes = [[rng.choice((-1, 1)) * rng.randint(0, 7) for _ in range(K)] for _ in range(N)]
    if equal and K % 4 == 0:
        codes = [[c for _ in range(K // 4) for c in _tied(rng)] for _ in range(N)]
    elif N > 1:  # one of these zeros stays
        codes[-1][:3] = [0] * len(codes[-1][:3])
    values = [[rng.uniform(-2, 2) for _ in range(K // 4 * 2)] for _ in range(N)]
    return {
        "weight_NK": torch.tensor(codes) * step,
        "value_NV": torch.tensor(values),
        "bytes_NB": torch.tensor(_bytes(rng, N, K // 4), dtype=torch.uint8),
    }


def _tied(rng):
    """Four codes: one large, two equal, a zero."""
    four = [rng.randint(4, 7), *[rng.randint(1, 3)] * 2, 0]
    rng.shuffle(four)
    return [rng.choice((-1, 1)) * code for code in four]


def _bytes(rng, N, groups):
    """Two different places a group in rising order, reckoned without shifts."""
    rows = []
    for _ in range(N):
        places = [p for _ in range(groups) for p in sorted(rng.sample(range(4), 2))]
        places += [0] * (-len(places) % 4)
        quads = [places[i : i + 4] for i in range(0, len(places), 4)]
        rows.append([a + 4 * b + 16 * c + 64 * d for a, b, c, d in quads])
    return rows


def drive(answer, case):
    """keep, pack, unpack of other bytes, and the way back of what was packed.

    keep stands first in the file: it is judged alone while pack or unpack are still to be written.
    """
    weight_NK = case["weight_NK"]
    if weight_NK.shape[1] % 4:
        packed = _written(_refused, answer().pack, weight_NK) or ("unwritten",)
        return {"keep": _refused(answer().keep, weight_NK), "pack": packed[0]}
    form = answer()
    found, packed = {"keep": form.keep(weight_NK)}, _written(form.pack, weight_NK)
    if packed is not None:
        found["values"], found["bytes"] = packed[0]
    unpacked = _written(form.unpack, case["value_NV"], case["bytes_NB"])
    if unpacked is not None:
        found["unpack"] = unpacked[0]
    if len(found) == 4:
        found["and back"] = form.unpack(*packed[0])
    return found


def _written(method, *given):
    """(what the method returns,); None while it is not written."""
    try:
        return (method(*given),)
    except NotImplementedError:
        return None


def _refused(method, weight_NK):
    """What a width that 4 does not divide gives."""
    try:
        method(weight_NK)
    except ValueError:
        return "ValueError"
    except NotImplementedError:
        raise
    except (RuntimeError, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def judge(case, output):
    want, K = drive(spec.reference("12.4"), case), case["weight_NK"].shape[1]
    if K % 4:
        for name in want:
            if output[name] not in ("ValueError", "unwritten"):
                raise Wrong("12.4.width", f"{name}: K = {K} is no multiple of 4, so a ValueError "
                            f"is asked for. Yours raised {output[name]}")  # fmt: skip
        return
    kept = output["keep"]
    if torch.is_tensor(kept) and kept.dtype == torch.bool and kept.shape == (want["keep"].shape):
        counts_NG = kept.unflatten(1, (-1, 4)).sum(-1)
        if bool((counts_NG != 2).any()):
            place = tuple((counts_NG != 2).nonzero()[0].tolist())
            raise Wrong("12.4.two", "keep: every group of four keeps exactly two; first difference "
                        "in this row and group", place, 2, int(counts_NG[place]))  # fmt: skip
    missing = [name for name, key in METHODS.items() if key not in output]
    for name, part in want.items():
        if name in output:
            compare(output[name], part, what=name)
    if missing:
        right = [name for name in ("keep", *METHODS) if name not in missing]
        raise Wrong("12.4.unwritten", f"{' and '.join(right)}: right in all cases. Not written "
                    f"yet: {' and '.join(missing)}")  # fmt: skip
