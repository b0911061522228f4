"""Check of 4.6: bytes that tensor operations write while a cache grows token by token."""

import torch
from torch.utils._pytree import tree_leaves

from exercises.grading.counting import LightMode
from exercises.grading.judge import Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="4.6", title="A cache that copies itself", kind="slow", entry="GrowingCache",
    minutes=20, difficulty=3,
    sizes=(
        {"G": 1, "K": 2, "steps": (2, 1), "spare": 1},
        {"G": 2, "K": 3, "steps": (5,) + (1,) * 59, "spare": 0},
        {"G": 3, "K": 5, "steps": (9,) + (1,) * 40 + (4,) + (1,) * 30, "spare": 13},
    ),
    hints=(
        "Write 4 tokens, one a step, with torch.cat. It copies 1, then 2, then 3, then 4 rows. How "
        "many rows is that, and how many did you need to write?",
        "cat writes n * (n + 1) / 2 rows in n steps, a reserved strip writes n. "
        "strip: [max_len, G, K]; rows in use: strip[:length]. A slice is a view: no copy.",
        "# in __init__\n"
        "self.k = torch.empty(max_len, num_kv_heads, head_size)\n"
        "self.v, self.length = torch.empty_like(self.k), 0\n"
        "# in append\n"
        "end = self.length + len(k_TGK)\n"
        "self.k[____], self.v[____] = k_TGK, v_TGK\n"
        "self.length = end\n"
        "return self.k[:end], self.v[:end]",
    ),
)  # fmt: skip
ALLOWED = 4  # times the bytes of all K/V: a strip writes 1, a buffer that doubles up to 3
INDEXED = ("index_put_", "index_copy_", "scatter_")  # write a part, and return the whole
RESERVE = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")


class BytesWritten(LightMode):
    """Adds up the bytes of every tensor that an operation makes or changes; views are free."""

    def __init__(self):
        super().__init__()
        self.count, self.made = 0, set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        old = {_storage(x) for x in _tensors((args, kwargs))}
        out = func(*args, **(kwargs or {}))
        name = func._schema.name.split("::")[1]
        self.made |= {_storage(x) for x in _tensors(out)} - old
        if name in INDEXED:
            written = [x for x in _tensors((args[1:], kwargs)) if x.dtype == args[0].dtype]
            self.count += sum(x.nbytes for x in written)
            return out
        for x in _tensors(out):
            if name not in RESERVE and (func._schema.is_mutable or _storage(x) not in old):
                self.count += x.nbytes
        return out

    def returned(self, found, before: list) -> list:
        """Adds what no operation made: a copy by way of NumPy or lists. Returns the storages."""
        now = [_storage(x) for x in found if isinstance(x, torch.Tensor)]
        hidden = set(now) - self.made - set(before)
        self.count += sum(x.nbytes for x in _tensors(list(found)) if _storage(x) in hidden)
        return now


def _storage(x) -> int:
    return x.untyped_storage().data_ptr()


def _tensors(tree) -> list:
    return [x for x in tree_leaves(tree) if isinstance(x, torch.Tensor)]


def make(rng, G, K, steps, spare):
    new = [(normal(rng, T, G, K), normal(rng, T, G, K)) for T in steps]
    return {"max_len": sum(steps) + spare, "k_v_of_each_append": new}


def _kept(case):
    """Steps whose result is judged: the first two and the last."""
    return sorted({0, 1, len(case["k_v_of_each_append"]) - 1})


def drive(answer, case):
    out, counter = [], BytesWritten()
    _, G, K = case["k_v_of_each_append"][0][0].shape
    with counter:
        cache = answer(case["max_len"], G, K)
    kept, storages = _kept(case), []
    for step, (k_TGK, v_TGK) in enumerate(case["k_v_of_each_append"]):
        with counter:
            found = cache.append(k_TGK, v_TGK)
        storages = counter.returned(found, storages)
        if step in kept:  # a copy for the judge is not counted
            out.append([x.clone() if isinstance(x, torch.Tensor) else x for x in found])
    return {"out": out, "counts": {"bytes": counter.count}}


def judge(case, output):
    news = case["k_v_of_each_append"]
    for found, step in zip(output["out"], _kept(case)):
        if len(found) != 2:
            raise Wrong("4.6.pair", "append must return two tensors: keys and values")
        for what, got, pieces in zip(("keys", "values"), found, zip(*news[: step + 1])):
            compare(got, torch.cat(pieces), what=f"the {what} after step {step + 1}")
    whole = sum(k.nbytes + v.nbytes for k, v in news)
    if output["counts"]["bytes"] > ALLOWED * whole:
        written = output["counts"]["bytes"]
        raise Wrong(
            "4.6.bytes",
            f"right, but {len(news)} steps wrote {written:,} bytes: {written / whole:.1f} times "
            f"all keys and values; {ALLOWED} times is allowed",
        )
