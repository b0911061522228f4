"""Check of 9.6: results within bfloat16, bytes that a call makes, bytes that it holds."""

import torch
from torch.utils._pytree import tree_leaves

from exercises.grading.counting import LightMode
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="9.6", title="Made again at every call", kind="slow", entry="Int8Linear",
    minutes=20, difficulty=3, uses=("minillm.quant_ops",),
    sizes=(
        {"N": 64, "K": 64, "rows": (1,)},
        {"N": 100, "K": 112, "rows": (1, 1, 3)},
        {"N": 192, "K": 80, "rows": (1, 2, 1)},
    ),
    hints=(
        "A matrix has 64 x 64 weights, in int8. How many bytes does a call read and write that "
        "first makes it float32, and how many if the product reads the codes?",
        "made: [N, K] * 4 bytes written and read again. Packed: N * K bytes read, nothing made but "
        "x in bfloat16 [T, K] and the result [T, N].",
        "# in __init__\n"
        "self.codes_NK, self.scale_N = codes_NK, scale_N.bfloat16()\n"
        "# in __call__\n"
        "out_TN = torch._weight_int8pack_mm(____, self.codes_NK, self.scale_N)\n"
        "return out_TN.float()",
    ),
)  # fmt: skip
A_NUMBER = 16  # bytes that a call may make, for each number of x and of the result
A_WEIGHT = 1.5  # bytes that the layer may hold


class BytesMade(LightMode):
    """Adds up the bytes of every tensor that an operation makes or changes; views are free."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        old = {_storage(x) for x in _tensors((args, kwargs))}
        out = func(*args, **(kwargs or {}))
        new = [x for x in _tensors(out) if func._schema.is_mutable or _storage(x) not in old]
        self.count += sum(x.nbytes for x in new)
        return out


def _storage(x) -> int:
    return x.untyped_storage().data_ptr()


def _tensors(tree) -> list:
    return [x for x in tree_leaves(tree) if isinstance(x, torch.Tensor)]


def make(rng, N, K, rows):
    K, N = K + -K % 16, N + -N % 4  # what the packed product can do, at any smaller size too
    codes_NK = (normal(rng, N, K) * 50).round().clamp(-127, 127).to(torch.int8)
    scale_N = torch.tensor([10 ** rng.uniform(-3, -1) for _ in range(N)])
    return {
        "codes_NK": codes_NK,
        "scale_N": scale_N,
        "x_of_each_call": [normal(rng, T, K) for T in rows],
    }


def drive(answer, case):
    layer, out, made = answer(case["codes_NK"], case["scale_N"]), [], []
    for x_TK in case["x_of_each_call"]:
        counter = BytesMade()
        with counter:
            out.append(layer(x_TK))
        made.append(counter.count)
    parts = [vars(layer), list(layer.state_dict().values()) if hasattr(layer, "state_dict") else []]
    sizes = {_storage(x): x.untyped_storage().nbytes() for x in _tensors(parts)}
    return {"out": out, "counts": {"made": made, "held": sum(sizes.values())}}


def judge(case, output):
    N, K = case["codes_NK"].shape
    weight_NK = case["codes_NK"].double() * case["scale_N"].double()[:, None]
    want = [(x_TK.double() @ weight_NK.T).float() for x_TK in case["x_of_each_call"]]
    compare(output["out"], want, TOLERANCES["bf16"])
    held = output["counts"]["held"]
    if held > A_WEIGHT * N * K:
        raise Wrong(
            "9.6.held", f"right, but the layer holds {held / (N * K):.1f} bytes a weight; "
            f"{A_WEIGHT} is allowed",
        )  # fmt: skip
    for x_TK, made in zip(case["x_of_each_call"], output["counts"]["made"]):
        allowed = A_NUMBER * len(x_TK) * (N + K)
        if made > allowed:
            raise Wrong(
                "9.6.made", f"right, but a call with {len(x_TK)} rows made {made:,} bytes, "
                f"{made / (N * K):.1f} for each weight; {allowed:,} are allowed",
            )  # fmt: skip
