"""FBGEMM's int8 products: exact, of any shape, as near and as large as the texts say."""

from __future__ import annotations

import copy
import math
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
import torch

import minillm
from minillm import fbgemm_ops, quant_ops
from minillm.compress import layouts
from minillm.compress.linear import QuantLinear
from minillm.compress.quant import encode, quantize

needs_fbgemm = pytest.mark.skipif(not fbgemm_ops.usable(), reason="no exact FBGEMM on this CPU")
LINUX = Path("/proc/self/statm").exists()
SHAPES = [(1, 1, 1), (5, 7, 3), (640, 1024, 1), (3, 4304, 100), (97, 513, 0), (49, 1500, 33)]
DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64]
CPU = torch.device("cpu")


def codes(rows: int, columns: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-128, 128, (rows, columns), generator=generator, dtype=torch.int8)


def numbers(rows: int, columns: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed))


def scales(rows: int) -> torch.Tensor:
    return torch.rand(rows, generator=torch.Generator().manual_seed(2)) + 0.5


@needs_fbgemm
@pytest.mark.parametrize("rows, columns, tokens", SHAPES)
def test_the_layout_holds_the_codes_and_multiplies_exactly(rows, columns, tokens):
    codes_NK = codes(rows, columns)
    packed = fbgemm_ops.pack(codes_NK, torch.ones(rows))
    assert torch.equal(fbgemm_ops.codes_of(packed), codes_NK)
    q_TK = codes(tokens, columns, seed=1)
    want = (q_TK.double() @ codes_NK.double().T).float()  # one rounding, from int32
    assert torch.equal(fbgemm_ops._multiply(q_TK.float(), packed), want)


@needs_fbgemm
@pytest.mark.parametrize("weight", [-128, 127])
@pytest.mark.parametrize("activation", [-128, 127])
def test_the_largest_bytes_neither_saturate_nor_overflow(activation, weight):
    packed = fbgemm_ops.pack(torch.full((50, 16384), weight, dtype=torch.int8), torch.ones(50))
    got = fbgemm_ops._multiply(torch.full((9, 16384), float(activation)), packed)
    assert (got == float(activation * weight * 16384)).all()


@needs_fbgemm
def test_codes_in_another_order_of_memory():
    codes_NK = codes(300, 65).T  # strides (1, 65)
    packed = fbgemm_ops.pack(codes_NK, scales(65))
    assert torch.equal(fbgemm_ops.codes_of(packed), codes_NK)


def activations(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    """Rows of other sizes, one of zeros, and one whose ends lie 255 steps of 8 bits apart."""
    size = torch.tensor([1.0, 0.0, 30.0, 1e-3])[torch.arange(rows) % 4]
    x_TK = numbers(rows, columns) * size[:, None]
    if columns > 1:
        x_TK[:1, 0], x_TK[:1, 1] = 4.0, -4.0
    return x_TK.to(dtype)


@needs_fbgemm
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns, tokens", SHAPES)
def test_w8a8_equals_the_plain_product(rows, columns, tokens, dtype):
    """The plain one in float64 would divide more finely than the library, which takes float32."""
    codes_NK, scale_N = codes(rows, columns), scales(rows)
    x_TK = activations(tokens, columns, dtype)
    got = fbgemm_ops.w8a8(x_TK, fbgemm_ops.pack(codes_NK, scale_N))
    plain = x_TK.float() if dtype == torch.float64 else x_TK
    want = quant_ops.w8a8_matmul(plain, codes_NK, scale_N[:, None])
    assert got.dtype == dtype and got.shape == (tokens, rows)
    step = {torch.bfloat16: 2**-7, torch.float16: 2**-10}.get(dtype, 1e-6)
    least = 2**-24 if dtype == torch.float16 else 1e-6  # float16 has no finer step
    assert torch.allclose(got.double(), want.double(), rtol=step, atol=least)


@needs_fbgemm
@pytest.mark.parametrize("product", ["w8a8", "w8a16"])
def test_activations_in_another_order_of_memory(product):
    packed, product = fbgemm_ops.pack(codes(70, 600), scales(70)), getattr(fbgemm_ops, product)
    x_KT = numbers(600, 40)
    for x_TK in (x_KT.T, x_KT.T[::3], x_KT.T[:1], numbers(5, 1200)[:, ::2]):
        assert torch.equal(product(x_TK, packed), product(x_TK.contiguous(), packed))


@needs_fbgemm
@pytest.mark.parametrize("size", [1e-25, 1e-5, 1e30])
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_very_large_and_very_small_activations(rows, size):
    codes_NK, scale_N = codes(33, 700), scales(33)
    packed, x_TK = fbgemm_ops.pack(codes_NK, scale_N), numbers(rows, 700) * size
    want = quant_ops.w8a8_matmul(x_TK, codes_NK, scale_N[:, None])
    got = fbgemm_ops.w8a8(x_TK, packed)
    assert torch.allclose(got / size, want / size, rtol=1e-6, atol=1e-3)
    exact = x_TK.double() @ (codes_NK.double() * scale_N[:, None]).T
    assert (fbgemm_ops.w8a16(x_TK, packed) - exact).norm() <= 1e-4 * exact.norm()


@needs_fbgemm
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows, columns, tokens", SHAPES)
def test_sixteen_bits_of_an_activation_in_two_bytes(rows, columns, tokens, dtype):
    """Each |x| is off by at most half a step of max|x| / STEPS, and the sum's rounding."""
    codes_NK, scale_N = codes(rows, columns), scales(rows)
    x_TK = activations(tokens, columns, dtype)
    weight = codes_NK.double() * scale_N[:, None].double()
    most_T1 = x_TK.double().abs().amax(-1, keepdim=True)
    bound = most_T1 * 0.51 / fbgemm_ops.STEPS * weight.abs().sum(-1)
    rounding = 1e-6 * (x_TK.double().abs() @ weight.abs().T)
    got = fbgemm_ops.w8a16(x_TK, fbgemm_ops.pack(codes_NK, scale_N))
    assert got.dtype == dtype
    assert ((got.double() - x_TK.double() @ weight.T).abs() <= bound + rounding).all()


@needs_fbgemm
def test_every_step_of_sixteen_bits_is_met_exactly():
    """A whole number of steps is what 255 high + low says, from one end of a row to the other."""
    steps = torch.arange(-fbgemm_ops.STEPS, fbgemm_ops.STEPS + 1, dtype=torch.float32)
    x_TK = torch.stack((steps, torch.full_like(steps, fbgemm_ops.STEPS)), dim=-1)
    packed = fbgemm_ops.pack(torch.tensor([[1, 0]], dtype=torch.int8), torch.ones(1))
    assert (fbgemm_ops.w8a16(x_TK, packed)[:, 0] - steps).abs().max() <= 0.01  # of a step


@needs_fbgemm
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_nan_and_inf_stay_in_their_row_and_are_seen(rows, bad):
    packed, x_TK = fbgemm_ops.pack(codes(64, 512), scales(64)), numbers(rows, 512)
    for product in (fbgemm_ops.w8a8, fbgemm_ops.w8a16):
        want, spoilt_TK = product(x_TK, packed), x_TK.clone()
        spoilt_TK[0, 3] = bad
        got = product(spoilt_TK, packed)
        assert not got[0].isfinite().any() and torch.equal(got[1:], want[1:])


@pytest.mark.parametrize("fault", ["product", "codes", "no operation", "no VNNI", "no library"])
@needs_fbgemm
def test_a_library_without_exact_products_is_not_used(fault, monkeypatch):
    fbgemm_ops.usable.cache_clear()
    right = fbgemm_ops._multiply

    def missing(*_):
        raise RuntimeError("no such operation")

    if fault == "product":  # one sum in 16 bits that overflowed
        monkeypatch.setattr(fbgemm_ops, "_multiply", lambda *a: right(*a).clamp_(max=8e6))
    elif fault == "codes":
        monkeypatch.setattr(fbgemm_ops, "codes_of", lambda _: codes(96, 512))
    elif fault == "no operation":
        monkeypatch.setattr(fbgemm_ops, "pack", missing)
    elif fault == "no VNNI":
        monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda: False)
    else:
        monkeypatch.setattr(type(torch.backends.quantized), "supported_engines", ["onednn"])
    assert not fbgemm_ops.usable()
    fbgemm_ops.usable.cache_clear()


PACK = """
import torch, warnings
from minillm import fbgemm_ops
assert fbgemm_ops.usable()
torch.backends.quantized.engine = "onednn"
before = list(warnings.filters)
packed = fbgemm_ops.pack(torch.ones(3, 5, dtype=torch.int8), torch.ones(3))
fbgemm_ops.w8a16(torch.ones(1, 5), packed)
fbgemm_ops.codes_of(packed)
assert torch.backends.quantized.engine == "onednn" and list(warnings.filters) == before
"""


@needs_fbgemm
def test_the_engine_is_left_as_it_was_and_no_warning_escapes():
    """In a fresh process: torch warns once."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", PACK], capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()


@needs_fbgemm
def test_the_engine_is_left_as_it_was_after_an_error():
    engine = torch.backends.quantized.engine
    with pytest.raises(RuntimeError):
        fbgemm_ops.pack(torch.ones(3, 5, 2, dtype=torch.int8), torch.ones(3))
    assert torch.backends.quantized.engine == engine


@needs_fbgemm
def test_threads_that_pack_at_once_leave_the_engine_as_it_was():
    engine, filters = torch.backends.quantized.engine, list(warnings.filters)
    codes_NK, scale_N, wrong = codes(640, 1024), scales(640), []

    def work():
        for _ in range(40):
            packed = fbgemm_ops.pack(codes_NK, scale_N)
            if not torch.equal(fbgemm_ops.codes_of(packed), codes_NK):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    left, found = torch.backends.quantized.engine, list(warnings.filters)
    torch.backends.quantized.engine, warnings.filters[:] = engine, filters
    assert left == engine and found == filters and not wrong


GROWN = """
import os, sys, torch
from minillm import fbgemm_ops
def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
rows, columns = map(int, sys.argv[1:])
codes, scale = torch.ones(rows, columns, dtype=torch.int8), torch.ones(rows)
fbgemm_ops.pack(codes, scale)  # what the library needs once
before = held()
packed = fbgemm_ops.pack(codes, scale)
print(held() - before)
"""


def grown(rows: int, columns: int, **more: str) -> int:
    """Bytes that a fresh process grows by. Each array has pages of its own, given back at once."""
    env = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"} | more
    command = [sys.executable, "-c", GROWN, str(rows), str(columns)]
    done = subprocess.run(command, capture_output=True, env=env, check=True)
    return int(done.stdout)


MEASURED = [
    (16384, 640),  # a quarter of the last block
    (8192, 1024),  # whole blocks, the last 32 rows short
    (16384, 256),  # half a block
    (12000, 1023),  # the last block but four bytes
    (97, 60000),  # a row more than two blocks
]


@needs_fbgemm
@pytest.mark.skipif(not LINUX, reason="/proc/self/statm is Linux's")
@pytest.mark.parametrize("rows, columns", MEASURED)
def test_the_bytes_of_a_layout_are_those_that_the_process_grows_by(rows, columns):
    claimed = sum(fbgemm_ops.layout_bytes(rows, columns))
    assert grown(rows, columns) == pytest.approx(claimed, rel=0.03)


def new_glibc() -> bool:
    """From 2.35 on malloc asks for huge pages where it is told to."""
    if "CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", {}):
        return False
    version = os.confstr("CS_GNU_LIBC_VERSION").split()[-1].split(".")
    return tuple(int(part) for part in version[:2]) >= (2, 35)


def gives_huge_pages() -> bool:
    path = fbgemm_ops.HUGE_PAGES
    return new_glibc() and path.exists() and "[never]" not in path.read_text()


@needs_fbgemm
@pytest.mark.skipif(not gives_huge_pages(), reason="this machine has no pages of 2 MB to give")
def test_with_huge_pages_a_layout_holds_all_that_it_reserves(monkeypatch):
    monkeypatch.setattr(fbgemm_ops, "huge_pages", lambda: True)
    claimed = sum(fbgemm_ops.layout_bytes(65536, 640))
    got = grown(65536, 640, GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    assert 0.9 * claimed <= got <= 1.03 * claimed  # the ends of an array lie in small pages
    monkeypatch.setattr(fbgemm_ops, "huge_pages", lambda: False)
    assert sum(fbgemm_ops.layout_bytes(65536, 640)) < 0.75 * claimed


def test_huge_pages_are_read_from_linux(tmp_path, monkeypatch):
    for text, want in (("[always] madvise never", True), ("always [madvise] never", False)):
        (tmp_path / "enabled").write_text(text)
        monkeypatch.setattr(fbgemm_ops, "HUGE_PAGES", tmp_path / "enabled")
        fbgemm_ops.huge_pages.cache_clear()
        assert fbgemm_ops.huge_pages() is want
    monkeypatch.setattr(fbgemm_ops, "HUGE_PAGES", tmp_path / "none")
    fbgemm_ops.huge_pages.cache_clear()
    assert fbgemm_ops.huge_pages() is False
    fbgemm_ops.huge_pages.cache_clear()


def taken(scheme: str, rows: int, columns: int) -> bool:
    """Whether choose() takes FBGEMM, told without making the matrix."""
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts.int8_ops, "usable", lambda: True)
        patch.setattr(layouts.int8_ops, "int8_layout", lambda *_: (None, None, None))
        patch.setattr(layouts.quant_ops, "int8_layout", lambda *_: (None, None))
        patch.setattr(layouts.Int4, "of", lambda *_: None)
        patch.setattr(layouts.Int8Fbgemm, "of", lambda *_: asked.append(1))
        make = layouts.choose(scheme, rows, columns, columns, False, CPU)
        if make is not None:
            make(None, None, None, columns)
    return bool(asked)


@pytest.fixture
def small_pages(monkeypatch):
    """As most machines have them, and a library that works: the rule itself is tested."""
    monkeypatch.setattr(fbgemm_ops, "huge_pages", lambda: False)
    monkeypatch.setattr(fbgemm_ops, "usable", lambda: True)


def test_which_matrices_take_the_layout(small_pages):
    assert taken("w8a8", 640, 1024) and taken("w8a8", 640, 2048)
    assert taken("int8", 262144, 640) and taken("w8a8", 262144, 640)
    assert not taken("w8a8", 1024, 640) and not taken("w8a8", 2048, 640)  # 640 takes room for 683
    assert not taken("int8", 640, 2048)  # small: plain rows
    assert not taken("int4", 640, 2048) and not taken("nf4", 640, 2048)
    for rows in (256, 512, 704, 1024, 1408, 4096, 32768):  # inputs of `tiny` are 256 wide
        assert not taken("w8a8", rows, 256) and not taken("int8", rows, 256), rows


def test_the_layout_never_holds_more_on_top_than_the_limit(small_pages):
    generator = torch.Generator().manual_seed(3)
    sizes = (10 ** (torch.rand(4000, 2, generator=generator) * 3.5 + 1)).long().tolist()
    found = 0
    for rows, columns in sizes:
        for scheme, bits in (("w8a8", 8), ("int8", 16)):
            if taken(scheme, rows, columns):
                codes_held, scales_held = fbgemm_ops.layout_bytes(rows, columns)
                most = {8: 0.065, 16: 0.035}[bits] if rows * columns < 2**24 else 0.1
                assert codes_held + scales_held <= (1 + most) * rows * columns, (rows, columns)
                assert codes_held >= rows * columns + 8 * rows
                found += 1
    assert found > 100


def test_another_way_is_taken_where_the_library_is_missing_or_pages_are_huge(monkeypatch):
    monkeypatch.setattr(fbgemm_ops, "usable", lambda: False)
    assert not taken("w8a8", 640, 1024)
    monkeypatch.setattr(fbgemm_ops, "usable", lambda: True)
    monkeypatch.setattr(fbgemm_ops, "huge_pages", lambda: True)
    assert taken("w8a8", 640, 1024) and not taken("int8", 262144, 640)


@pytest.fixture
def all_shapes(monkeypatch):
    """The layout for every matrix, also for those that hold much more in it."""
    monkeypatch.setattr(layouts, "LARGE", 1)
    monkeypatch.setattr(layouts, "PADDING", {16: math.inf, 8: math.inf})


def fast_layer(scheme: str, rows: int = 40, columns: int = 70) -> QuantLinear:
    coded = encode(numbers(rows, columns, seed=4), scheme, None, True, torch.bfloat16)
    return QuantLinear(coded, scheme, compute="fast")


@needs_fbgemm
@pytest.mark.parametrize("scheme", ["int8", "w8a8"])
def test_a_product_in_parts_equals_the_whole(scheme, all_shapes, monkeypatch):
    layer, x_TK = fast_layer(scheme), numbers(23, 70)
    want, count = layer(x_TK), []
    name = "w8a16" if scheme == "int8" else "w8a8"
    product = getattr(fbgemm_ops, name)
    monkeypatch.setattr(fbgemm_ops, name, lambda x, p: count.append(len(x)) or product(x, p))
    for results, rows in ((1, 1), (40 * 6, 6), (40 * 12, 12), (40 * 100, 100)):
        monkeypatch.setattr(fbgemm_ops, "RESULTS", results)
        count.clear()
        most = rows if scheme == "w8a8" else max(1, rows // 2)  # two rows of bytes for a row
        assert torch.equal(layer(x_TK), want) and torch.equal(layer(x_TK[:0]), want[:0])
        assert max(count) == min(23, most) and sum(count) == 23


@needs_fbgemm
@pytest.mark.parametrize("scheme", ["int8", "w8a8"])
def test_a_layer_keeps_one_copy_and_every_way_out_gives_the_same(scheme, all_shapes):
    layer, x_TK = fast_layer(scheme), numbers(3, 70)
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    codes_NK, dense = layer.codes().clone(), layer.dequantize(torch.float32)
    want = layer(x_TK)
    assert (want - x_TK @ dense.T).norm() < (2e-2 if scheme == "w8a8" else 1e-4) * want.norm()
    assert isinstance(layer.layout, layouts.Int8Fbgemm)
    assert layer.packed.numel() == 0 and layer.scale.numel() == 0
    held = fbgemm_ops.layout_bytes(40, 70)
    assert layer.weight_bytes() == {scheme: held[0], "scale": held[1] + 40 * 4}
    assert torch.equal(layer.codes(), codes_NK) and torch.equal(
        layer.dequantize(dense.dtype), dense
    )
    for other in (copy.copy(layer), copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(other(x_TK), want) and torch.equal(layer(x_TK), want)
        assert torch.equal(other.codes(), codes_NK) and torch.equal(other.scales(), layer.scales())
    after = layer.state_dict()
    assert layer.layout is None and after.keys() == before.keys()
    assert all(
        torch.equal(after[k], before[k]) and after[k].dtype == before[k].dtype for k in after
    )
    assert isinstance(layer.prepare().layout, layouts.Int8Fbgemm)
    assert torch.equal(layer.restore().state_dict()["packed"], before["packed"])


@needs_fbgemm
def test_a_layer_that_another_thread_prepares_at_once(all_shapes, monkeypatch):
    """The other comes between this one's look at `layout` and its own work."""
    layer, x_TK = fast_layer("int8"), numbers(3, 70)
    want, find = copy.deepcopy(layer)(x_TK), QuantLinear._layout_maker

    def interrupted(self, device):
        monkeypatch.setattr(QuantLinear, "_layout_maker", find)
        self.prepare()
        return find(self, device)

    monkeypatch.setattr(QuantLinear, "_layout_maker", interrupted)
    layer.prepare()
    assert torch.equal(layer(x_TK), want)


@needs_fbgemm
@pytest.mark.parametrize("scheme", ["int8", "w8a8"])
def test_a_model_of_these_layers_in_other_dtypes_threads_and_copies(scheme, all_shapes):
    dense, _ = minillm.load("tiny")
    tokens_T = torch.tensor([1, 2, 3, 4])
    model = quantize(dense, scheme, compute="fast", head="int8")
    want = model(tokens_T)
    layers = [m for m in model.modules() if isinstance(m, QuantLinear)]
    assert all(isinstance(layer.layout, layouts.Int8Fbgemm) for layer in layers)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        other = copy.deepcopy(model).to(dtype)
        got = other(tokens_T)
        assert got.dtype == dtype and (got.double() - want).norm() <= 0.05 * want.norm()
        assert all(m.layout for m in other.modules() if isinstance(m, QuantLinear))
    assert torch.equal(model.train()(tokens_T), want)
    found = []
    model.load_state_dict(model.state_dict())  # in the portable form again
    work = lambda: found.append(model(tokens_T))
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(torch.equal(got, want) for got in found)
    with pytest.raises(ValueError, match="quantised already"):
        minillm.prune(model)


@needs_fbgemm
def test_a_folder_of_a_model_that_has_run_gives_the_same_answers(all_shapes, tmp_path):
    dense, tokenizer = minillm.load("tiny")
    model, tokens_T = quantize(dense, "int8", compute="fast"), torch.tensor([1, 2, 3, 4])
    want = model(tokens_T)
    minillm.save(model, tokenizer, tmp_path / "packed")
    loaded, _ = minillm.load(tmp_path / "packed")
    for layer in loaded.modules():
        if isinstance(layer, QuantLinear):
            layer.compute = "fast"
    assert torch.equal(loaded(tokens_T), want) and torch.equal(model(tokens_T), want)


def test_whole_blocks_hold_their_codes_row_sums_zero_points_and_scales():
    """48 x 512 codes, and for each row two numbers of 4 bytes and a scale of 4."""
    assert fbgemm_ops.layout_bytes(96, 1024) == (96 * (1024 + 8), 96 * 4)
    assert fbgemm_ops.padding(96, 1024) == pytest.approx(12 / 1024)
    assert fbgemm_ops.layout_bytes(49, 512) == (96 * 512 + 49 * 8, 49 * 4)


def test_it_is_used_where_the_processor_and_torch_have_it():
    """Or every test here that needs it would be skipped, and nobody would know."""
    has = torch.cpu._is_vnni_supported() and torch.cpu._is_avx512_supported()
    has = has and "fbgemm" in torch.backends.quantized.supported_engines
    has = has and hasattr(torch.ops.quantized, "linear_with_input_q_dq_qweight_dq_output_fp32")
    assert fbgemm_ops.usable() or not has
