"""Inputs on which a kernel must equal its twin: small awkward ones, made for any device and size.

A kernel is a file of kernels/ with a function of its name, which takes what its twin takes (and
`tile=`). A new kernel adds its twin to TWINS and its cases to small_cases.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from minillm import ops, quant_ops
from minillm.cache import paged
from minillm.compress.packing import pack

NAN = float("nan")
NOWHERE = 1 << 40  # a block id that no pool has: whoever reads it, fails
TWINS = {
    "paged_attention": paged.paged_attention,
    "kv_store": paged.kv_store,
    "rms_norm": ops.plain_rms_norm,
    "rope": ops.plain_rope,
    "quant_matmul": quant_ops.plain_quant_matmul,
}


@dataclass(frozen=True)
class Case:
    """One call. edits: places of arguments that it writes; (): what it returns is the result."""

    kernel: str
    name: str
    args: tuple
    edits: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.kernel}: {self.name}"


@dataclass(frozen=True)
class Judged:
    """How far a kernel is from its twin in float64, and how far it may be."""

    error: float
    allowed: float

    @property
    def right(self) -> bool:
        return self.excess <= 0

    @property
    def excess(self) -> float:
        """By how much it is too far off; infinite for a NaN where a number should be."""
        return self.error - self.allowed if self.error == self.error else float("inf")


def kernel_of(case: Case):
    """The kernel's Python function; imports triton."""
    return getattr(importlib.import_module(f"minillm.kernels.{case.kernel}"), case.kernel)


def call(case: Case, function, wide: bool = False) -> list[Tensor]:
    """Run a function on copies of the arguments -> its results. wide: everything in float64."""
    args = [_copy(x, wide) if isinstance(x, Tensor) else x for x in case.args]
    out = function(*args)
    return [_base(args[place]) for place in case.edits] if case.edits else [out]


def _base(x: Tensor) -> Tensor:
    """All numbers of the memory that x is a part of: what must not be written is there too."""
    return torch.as_strided(x, (x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)


def _copy(x: Tensor, wide: bool) -> Tensor:
    """The same numbers at the same places, gaps and surroundings included."""
    base = _base(x).clone()
    base = base.double() if wide and x.is_floating_point() else base
    return torch.as_strided(base, x.shape, x.stride(), x.storage_offset())


def judge(case: Case, function) -> Judged:
    """Compare a function with the case's twin. Raises AssertionError for a wrong shape or type.

    Allowed: twice the error of the twin in the case's own number format, against float64, and one
    rounding of the result's largest number; nothing where the twin has no error (a copy). Whole
    numbers: none (on a GPU one step: torch divides by a constant in another way there).
    """
    twin = TWINS[case.kernel]
    got, low, want = call(case, function), call(case, twin), call(case, twin, wide=True)
    for g, l in zip(got, low):
        assert g.shape == l.shape and g.dtype == l.dtype, (g.shape, l.shape, g.dtype, l.dtype)
    return max((_judge_one(*x) for x in zip(got, low, want)), key=lambda one: one.excess)


def _judge_one(got: Tensor, low: Tensor, want: Tensor) -> Judged:
    if not got.is_floating_point():
        return Judged(float((got.long() - low.long()).abs().max()), float(got.is_cuda))
    same_nan = torch.equal(got.isnan(), low.isnan())  # a pool is NaN where nothing was written
    real = ~low.isnan()
    if not same_nan or not bool(real.any()):
        return Judged(0.0 if same_nan else NAN, 0.0)
    eps = torch.finfo(got.dtype).eps
    got, low, want = (x[real].double() for x in (got, low, want))
    rounding = float(want.abs().max()) * eps
    error = float((low - want).abs().max())
    return Judged(float((got - want).abs().max()), 2 * error + (rounding if error else 0.0))


def paged_case(name: str, lengths, kv_heads: int, group: int, size: int, page: int, dtype,
               int8: bool = False, window=None, device="cpu", spare: int = 3) -> Case:  # fmt: skip
    """Requests of these lengths on shuffled blocks; every slot that no token has is NaN."""
    gen = torch.Generator(device).manual_seed(len(name))
    blocks = [-(-n // page) for n in lengths]
    order = torch.randperm(sum(blocks) + spare, generator=gen, device=device)
    shape = ((len(order) * page), kv_heads, size)
    table_SM = torch.full((len(lengths), max(blocks) + 1), NOWHERE, device=device)
    pools = [torch.full(shape, 99 if int8 else NAN, device=device, dtype=_stored(dtype, int8))
             for _ in (0, 1)]  # fmt: skip
    scales = [torch.full(shape[:2], NAN, device=device) for _ in (0, 1)] if int8 else []
    start = 0
    for request, (length, count) in enumerate(zip(lengths, blocks)):
        table_SM[request, :count] = order[start : start + count]
        start += count
        slots = paged.slots_of(table_SM[request], length, page)
        new = torch.randn(2, length, kv_heads, size, generator=gen, device=device).to(dtype)
        paged.kv_store(new[0], new[1], slots, *pools, *scales)
    q = torch.randn(len(lengths), kv_heads * group + 2, size, generator=gen, device=device)
    q_SHK = q.to(dtype)[:, : kv_heads * group]
    len_S = torch.tensor(list(lengths), device=device)
    args = (q_SHK, *pools, table_SM, len_S, page, size**-0.5, window, *scales)
    return Case("paged_attention", name, args)


def _stored(dtype, int8: bool):
    return torch.int8 if int8 else dtype


def store_case(name: str, tokens: int, heads: int, size: int, dtype, int8: bool = False,
               device="cpu", padded: int = 2) -> Case:  # fmt: skip
    """Tokens that are a slice of a joint projection; some of them padding (slot -1)."""
    gen = torch.Generator(device).manual_seed(tokens)
    kv = torch.randn(tokens, 2 * heads, size, generator=gen, device=device).to(dtype)
    kv[tokens // 2, 0] = 0  # an all-zero head: its scale is 1, never 0
    slots_T = torch.randperm(2 * tokens, generator=gen, device=device)[:tokens]
    slots_T[:padded] = -1
    shape = (2 * tokens + 1, heads, size)  # the first is no slot: there a -1 would be written
    pools = [torch.full(shape, 99 if int8 else NAN, device=device, dtype=_stored(dtype, int8))[1:]
             for _ in (0, 1)]  # fmt: skip
    scales = [torch.full(shape[:2], NAN, device=device)[1:] for _ in (0, 1)] if int8 else []
    args = (kv[:, :heads], kv[:, heads:], slots_T, *pools, *scales)
    return Case("kv_store", name, args, tuple(range(3, len(args))))


def norm_case(name: str, shape, dtype, plus_one: bool = False, device="cpu", gap: int = 3) -> Case:
    """x is a slice of something wider; one row is tiny, so that eps decides."""
    gen = torch.Generator(device).manual_seed(shape[0])
    wide = (*shape[:-2], shape[-2] + gap, shape[-1]) if len(shape) == 3 else shape
    x = torch.randn(wide, generator=gen, device=device).to(dtype)
    x[0] *= 1e-3
    x = x[:, : shape[1]] if len(shape) == 3 else x
    weight = torch.randn(shape[-1], generator=gen, device=device).to(dtype)
    return Case("rms_norm", name, (x, weight, 1e-6, plus_one))


def rope_case(name: str, tokens: int, heads: int, size: int, dtype, device="cpu") -> Case:
    """Heads are a slice of a joint projection, positions far apart."""
    gen = torch.Generator(device).manual_seed(tokens)
    x = torch.randn(tokens, heads + 3, size, generator=gen, device=device).to(dtype)[:, :heads]
    freq = 1.0 / 10_000 ** (torch.arange(0, size, 2, device=device) / size)
    pos = torch.randint(0, 5000, (tokens,), generator=gen, device=device)
    return Case("rope", name, (x, *ops.rope_tables(pos, freq, 1.0, dtype)))


def matmul_case(name: str, rows: int, size, bits: int, group: int, dtype, zeros: bool = False,
                nf4: bool = False, device="cpu", spare: int = 3) -> Case:  # fmt: skip
    """Everything is a part of something wider, filled with NaN or with words of other codes."""
    (out, columns), half = size, 1 << (bits - 1)
    gen = torch.Generator(device).manual_seed(rows + out)
    codes = torch.randint(-half, half, size, generator=gen, device=device).to(torch.int8)
    codes[0, 0], codes[-1, -1], codes[0, -1] = -half, -half, half - 1
    on, groups = {"device": device}, -(-columns // group)
    within = lambda fill, kind, r, c: torch.full((r + 2, c + spare), fill, dtype=kind, **on)[:r, :c]
    x = within(NAN, dtype, rows, columns)
    x.copy_(torch.randn(x.shape, generator=gen, device=device))
    words = pack(codes, bits)
    packed = within(-1, torch.int32, *words.shape)
    packed.copy_(words)
    scale = within(NAN, dtype, out, groups)
    scale.copy_(0.01 + 0.01 * torch.rand(scale.shape, generator=gen, device=device))
    zero = None
    if zeros:
        zero = within(99, torch.int8, out, groups)
        zero.copy_(torch.randint(-half, half, zero.shape, generator=gen, device=device))
    return Case("quant_matmul", name, (x, packed, scale, zero, bits, group, nf4))


def small_cases(device="cpu", dtypes=(torch.float32, torch.float16)) -> Iterator[Case]:
    """Odd sizes, every option; small enough for the interpreter."""
    for dtype in dtypes:
        kind = str(dtype).removeprefix("torch.")
        on = {"dtype": dtype, "device": device}
        for lengths, dims, more in PAGED:
            name = f"{lengths} {dims} {more or ''} {kind}"
            yield paged_case(name, lengths, *dims, **on, **more)
        for tokens, heads, size in ((5, 4, 20), (1, 1, 256), (4, 6, 64), (3, 40, 80)):
            for int8 in (False, True):
                name = f"{tokens} x {heads} x {size} {'int8 ' * int8}{kind}"
                yield store_case(name, tokens, heads, size, int8=int8, padded=tokens // 3, **on)
        for shape in ((7, 65), (3, 1000), (1, 256), (2, 5, 12), (3, 4, 80)):
            for plus_one in (False, True):
                yield norm_case(
                    f"{shape} {'1+w ' * plus_one}{kind}", shape, plus_one=plus_one, **on
                )
        for tokens, heads, size in ((3, 5, 12), (1, 34, 80), (2, 3, 256), (4, 1, 64)):
            yield rope_case(f"{tokens} x {heads} x {size} {kind}", tokens, heads, size, **on)
        for rows, size, bits, group, more in MATMUL:
            name = f"{rows} x {size} int{bits} group {group} {more or ''} {kind}"
            yield matmul_case(name, rows, size, bits, group, **on, **more)


# lengths, (G, H / G, K, page): GQA ratios 28/4, 5/1, 12/2, 24/4 and 1
PAGED = (
    ((1, 37, 64, 0), (4, 7, 20, 8), {}),
    ((130, 5), (1, 5, 64, 16), {}),
    ((33, 16, 17), (2, 6, 32, 32), {"window": 11}),
    ((70, 9), (4, 6, 16, 8), {"int8": True}),
    ((45, 1), (3, 1, 80, 16), {}),
    ((90,), (1, 4, 256, 16), {"window": 64, "int8": True}),
    ((2100,), (1, 2, 16, 8), {}),  # several tiles in each of the 32 parts
    ((300,), (1, 2, 16, 8), {"window": 299}),
    ((25, 12), (2, 3, 24, 12), {}),
    ((19, 8), (1, 71, 20, 8), {}),
)

# rows of x, (N, K), bits, group: ragged last groups, a last word that is not full, a row a group
MATMUL = (
    (1, (21, 288), 4, 256, {}),
    (2, (5, 4304), 4, 64, {}),
    (3, (7, 4304), 8, 4304, {}),
    (4, (9, 320), 4, 32, {"zeros": True}),
    (5, (9, 320), 8, 128, {"zeros": True}),
    (6, (3, 35), 4, 35, {"zeros": True}),
    (7, (18, 320), 4, 320, {}),
    (7, (5, 130), 8, 64, {}),
    (2, (9, 200), 4, 64, {"nf4": True}),
    (16, (70, 320), 4, 128, {"zeros": True}),
    (33, (66, 288), 8, 288, {}),
    (33, (5, 4304), 4, 256, {}),
)
