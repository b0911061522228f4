"""Kernels: equal to their twins in the interpreter, and compiled for four cards within limits."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from minillm import kernel_cases, kernel_check, kernel_choice, kernel_table, ops, quant_ops
from minillm.kernel_build import Build, Built, faults

NO_TRITON = "no Triton here (there is none for macOS and Windows)"
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason=NO_TRITON)


def child(*command: str, **variables: str) -> subprocess.CompletedProcess:
    """A Python process of its own: triton reads TRITON_INTERPRET when it is imported."""
    env = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"} | variables
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, env=env, timeout=250
    )


@pytest.mark.parametrize("flag, code", [("--help", 0), ("--flag", 2)])
def test_the_check_reads_its_flags_before_it_begins(flag, code, monkeypatch, capsys):
    monkeypatch.setattr(kernel_check, "run", pytest.fail)
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(SystemExit) as end:
        kernel_check.main([flag])
    assert end.value.code == code and "TRITON_INTERPRET" not in os.environ


@pytest.fixture(scope="module")
def judged() -> dict:
    """What the interpreter found: (case, capability) -> its line."""
    done = child("-m", "minillm.kernel_check", "--json", OMP_NUM_THREADS="1")
    assert done.stdout, done.stderr
    return {(x["case"], x["capability"]): x for x in json.loads(done.stdout)}


@needs_triton
@pytest.mark.parametrize("capability", [75, 90])
@pytest.mark.parametrize("case", [str(c) for c in kernel_cases.small_cases()])
def test_the_interpreter_agrees_with_the_twin(judged, case, capability):
    line = judged[case, capability]
    assert line["right"], line


def test_every_kernel_has_a_twin_and_cases():
    names = set(kernel_table.kernel_names())
    assert names == set(kernel_cases.TWINS) == {c.kernel for c in kernel_cases.small_cases()}


@pytest.mark.parametrize("kernel", sorted(kernel_cases.TWINS))
def test_the_judge_is_strict(kernel):
    """The twin itself passes; the same, off by one part in 300, does not."""
    off = {torch.int8: 1}
    for case in kernel_cases.small_cases(dtypes=(torch.float32,)):
        if case.kernel != kernel:
            continue
        twin = kernel_cases.TWINS[kernel]

        def spoiled(*args, case=case, twin=twin):
            out = twin(*args)
            for x in [args[i] for i in case.edits] if case.edits else [out]:
                x.copy_(x + off.get(x.dtype, 0) if x.dtype in off else x * (1 + 1 / 300))
            return out

        assert kernel_cases.judge(case, twin).right
        assert not kernel_cases.judge(case, spoiled).right, str(case)


def test_cases_never_show_a_kernel_what_it_must_not_read():
    """Unused table entries name no block; unused slots are NaN; len 0 and padding are there."""
    cases = [c for c in kernel_cases.small_cases() if c.kernel == "paged_attention"]
    assert all((c.args[3] == kernel_cases.NOWHERE).any() for c in cases)
    assert all(c.args[1].isnan().any() for c in cases if c.args[1].is_floating_point())
    assert any((c.args[4] == 0).any() for c in cases)
    stores = [c for c in kernel_cases.small_cases() if c.kernel == "kv_store"]
    assert any((c.args[2] == -1).any() for c in stores)


MODEL = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
import torch, zoo
from minillm import ops
from minillm.cache.paged import Batch, PagedCache, slots_of
tables, lengths = torch.tensor([[3, 7], [9, 0], [5, 6]]), torch.tensor([9, 5, 13])
used = set()
def kernel(name, x):
    used.add(name)
    return getattr(importlib.import_module(f"minillm.kernels.{name}"), name)
for name in ("llama 5:1", "gemma3", "qwen3"):
    for kv_dtype in (None, "int8"):
        model = zoo.random_model(name, dtype=torch.float32)
        caches = [PagedCache(model.config, 12, 8, torch.float32, kv_dtype) for _ in (0, 1)]
        torch.manual_seed(1)
        caches[0].kv.copy_(torch.randn(caches[0].kv.shape) * 3)
        caches[1].kv.copy_(caches[0].kv)
        slots = torch.stack([slots_of(t, int(n), 8)[-1] for t, n in zip(tables, lengths)])
        batch = Batch(slots, tables, lengths, (1, 1, 1), 3)
        plain = ops.kernel
        with torch.inference_mode():
            want = model(torch.tensor([5, 8, 2]), lengths - 1, caches[0].at(batch))
            ops.kernel = kernel
            got = model(torch.tensor([5, 8, 2]), lengths - 1, caches[1].at(batch))
            ops.kernel = plain
        error = float((got - want).abs().max() / (want.max() - want.min()))
        assert error < 1e-4, (name, kv_dtype, error)
        assert len(used) == 2, used
print("model")
"""


@needs_triton
def test_a_model_decodes_through_the_paged_kernels():
    """As on a GPU: the view stores and attends by kernels, layer by layer, windows and int8 too."""
    here = os.path.dirname(__file__)
    done = child("-c", MODEL, here, TRITON_INTERPRET="1", OMP_NUM_THREADS="1")
    assert done.returncode == 0 and done.stdout.strip() == "model", done.stderr[-1500:]


LAYER = """
import torch
from minillm import quant_ops
from minillm.compress.linear import QuantLinear
from minillm.compress.quant import encode
from minillm.kernels.quant_matmul import quant_matmul
torch.manual_seed(0)
weight, calls = torch.randn(37, 200) * 0.05, []
def as_on_a_gpu(x, *more):
    calls.append(x.shape)
    return quant_matmul(x, *more)
for scheme, group, symmetric in (("int8", None, True), ("int8", 64, False), ("int4", 32, False),
                                 ("int4", None, True), ("nf4", 64, True)):
    coded = encode(weight, scheme, group, symmetric, torch.bfloat16)  # as on a CPU, then moved
    fast, exact = (QuantLinear(coded, scheme, torch.nn.Parameter(torch.randn(37)), how)
                   for how in ("fast", "exact"))
    exact.bias = fast.bias
    fast.fits = lambda device: False  # no packed operation of the CPU
    for rows in (1, 6):
        x = torch.full((rows + 1, 210), float("nan"))[:rows, :200]
        x.copy_(torch.randn(rows, 200))
        with torch.inference_mode():
            plain = quant_ops.quant_matmul
            assert torch.equal(fast(x), exact(x)), "the twin is not the exact way"
            quant_ops.quant_matmul = as_on_a_gpu
            error = (fast(x) - exact(x)).abs().max() / exact(x).abs().max()
            quant_ops.quant_matmul = plain
        assert error < 1e-5, (scheme, group, rows, error)
assert len(calls) == 10
print("layer")
"""


@needs_triton
def test_a_quantised_layer_hands_its_buffers_to_the_kernel():
    """On a T4, which has no bf16: scales kept in it are widened."""
    variables = {"TRITON_INTERPRET": "1", "MINILLM_CAPABILITY": "75", "OMP_NUM_THREADS": "1"}
    done = child("-c", LAYER, **variables)
    assert done.returncode == 0 and done.stdout.strip() == "layer", done.stderr[-1500:]


@pytest.mark.parametrize(
    "rows, dtype, bits, group, capability, taken",
    [
        (1, torch.float16, 4, 64, 75, True),
        (7, torch.float32, 8, 288, 75, True),
        (8, torch.float16, 4, 64, 75, False),  # a T4: tl.dot would run without tensor cores
        (8, torch.float32, 4, 64, 90, False),
        (8, torch.bfloat16, 4, 64, 80, True),
        (129, torch.float16, 4, 64, 90, False),
        (1, torch.float16, 4, 36, 90, False),  # the fifth word of codes lies in two groups
        (1, torch.float16, 8, 36, 90, True),
        (1, torch.float16, 4, 999, 90, True),
    ],
)
def test_when_the_product_kernel_is_taken(rows, dtype, bits, group, capability, taken):
    assert quant_ops.kernel_suits(rows, 288, dtype, bits, group, capability) == taken


FAR = """
import mmap, torch
from minillm.kernels.kv_store import kv_store
from minillm.kernels.paged_attention import Tile, paged_attention
page, heads, size = 16, 1, 256
blocks = 9 * 2**29 // (page * size)  # 4.5 GiB of int8: beyond 32 bits in bytes and in numbers
room = lambda count: torch.frombuffer(mmap.mmap(-1, count, flags=mmap.MAP_PRIVATE
    | mmap.MAP_ANONYMOUS | 0x4000), dtype=torch.uint8)  # MAP_NORESERVE: only what is touched
shape = (blocks * page, heads, size)
pools = [room(9 * 2**29).view(torch.int8).view(shape) for _ in (0, 1)]
scales = [room(blocks * page * heads * 4).view(torch.float32).view(shape[:2]) for _ in (0, 1)]
k, v = torch.randn(2, 3, heads, size)
last = (blocks - 1) * page
slots = torch.tensor([last + 3, last + 4, last + page - 1])
kv_store(k, v, slots, *pools, *scales)
table, q = torch.tensor([[blocks - 1]]), torch.randn(1, 2, size)
for at, x in zip(slots.tolist(), v):
    assert bool(((pools[1][at] * scales[1][at]) - x).abs().max() < 0.02), "not stored there"
for at in range(page):  # the rest of the page: zeros, so that attention knows what is in it
    if last + at not in slots:
        kv_store(torch.zeros(1, heads, size), torch.zeros(1, heads, size),
                 torch.tensor([last + at]), *pools, *scales)
from minillm.cache.paged import paged_attention as twin
args = (q, *pools, table, torch.tensor([page]), page, 0.1, None, *scales)
for splits in (1, 2):
    got = paged_attention(*args, tile=Tile(2, 8, splits, False, 4, 2))
    assert bool((got - twin(*args)).abs().max() < 1e-5), splits
print("far")
"""


@needs_triton
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sparse memory as on Linux")
def test_offsets_near_the_end_of_a_pool_over_4_gib():
    done = child("-c", FAR, TRITON_INTERPRET="1")
    assert done.returncode == 0 and done.stdout.strip() == "far", done.stderr[-1500:]


@needs_triton
def test_every_kernel_compiles_for_four_cards_within_their_limits():
    done = child("-m", "minillm.kernel_table", OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1500:]
    for name in kernel_table.kernel_names():
        for capability in kernel_table.CARDS:
            assert any(
                f"sm_{capability} " in line and f" {name} " in line
                for line in done.stdout.splitlines()
            ), (name, capability)
    assert "mma" in done.stdout


WIDE = "%a = tt.splat %k_ptr : x\n%b = tt.addptr %a, %o : tensor<!ptr>, tensor<4x{}> loc(#loc)\n"


@pytest.mark.parametrize(
    "change, build, ttir, said",
    [
        ({"shared": 65_537}, {}, "", "shared memory"),
        ({"spilled": 4}, {}, "", "spilled"),
        ({"types": ("*bf16",)}, {}, "", "bf16"),
        ({}, {}, "%s = tt.dot %q, %k", "tl.dot"),
        ({"mma": True}, {}, "", "against the promise"),
        ({}, {"mma": True}, "", "not used, against the promise"),
        ({}, {"wide": ("k_ptr",)}, WIDE.format("xi32"), "32-bit offsets"),
        ({}, {"wide": ("k_ptr",)}, "", "32-bit offsets"),
    ],
)
def test_each_fault_of_a_compiled_kernel_is_named(change, build, ttir, said):
    plain = {"shared": 65_536, "registers": 9, "spilled": 0, "mma": False, "types": ("*fp16",)}
    fn = SimpleNamespace(arg_names=["k_ptr"])
    good = Built("k", "n", 75, **plain)
    assert faults(good, Build("n", fn, {}, {}, wide=("k_ptr",)), WIDE.format("xi64")) == []
    found = faults(Built("k", "n", 75, **plain | change), Build("n", fn, {}, {}, **build), ttir)
    assert len(found) == 1 and said in found[0]


def test_the_choice_goes_by_capability_and_format():
    missing = kernel_choice.missing
    if importlib.util.find_spec("triton"):
        assert missing(75, torch.float16) is None and missing(90, torch.bfloat16) is None
        assert "bf16" in missing(75, torch.bfloat16)
        assert "fp64" in missing(90, torch.float64).replace("float64", "fp64")
        assert "older" in missing(70, torch.float16)
    assert ops.kernel("rms_norm", torch.ones(2, 4)) is None, "a CPU runs the plain code"
    assert [kernel_choice.power_of_two(n) for n in (1, 2, 3, 64, 65)] == [1, 2, 4, 64, 128]
    assert kernel_choice.multiprocessors(75) == 40 and kernel_choice.multiprocessors(121) == 148
