"""oneDNN's int8 products: exact, of any shape, and as near as the text says."""

from __future__ import annotations

import copy
import pickle

import pytest
import torch

import minillm
from minillm import int8_ops, quant_ops
from minillm.compress import layouts
from minillm.compress.linear import QuantLinear
from minillm.compress.quant import encode, quantize, simulate

needs_vnni = pytest.mark.skipif(not int8_ops.usable(), reason="this CPU has no VNNI")
SHAPES = [(1, 1, 1), (5, 7, 3), (3, 4304, 2), (17, 300, 33), (640, 288, 1), (31, 63, 0)]


def codes(rows: int, columns: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-128, 128, (rows, columns), generator=generator, dtype=torch.int8)


@needs_vnni
@pytest.mark.parametrize("rows, columns, tokens", SHAPES)
def test_the_layout_holds_the_codes_and_multiplies_exactly(rows, columns, tokens):
    codes_NK = codes(rows, columns)
    layout = int8_ops.int8_layout(codes_NK, torch.rand(rows, 1) + 0.5)
    assert torch.equal(int8_ops.codes_of(layout), codes_NK)
    q_TK = codes(tokens, columns, seed=1)
    ones = (layout[0], torch.ones(rows), layout[2])
    got = int8_ops._multiply((q_TK.short() + 128).to(torch.uint8), ones)
    assert torch.equal(got.double(), q_TK.double() @ codes_NK.double().T)


@needs_vnni
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows, columns, tokens", SHAPES)
def test_w8a8_equals_the_plain_product(rows, columns, tokens, dtype):
    codes_NK, scale_N1 = codes(rows, columns), torch.rand(rows, 1) + 0.5
    x_TK = torch.randn(tokens, columns, generator=torch.Generator().manual_seed(2)).to(dtype)
    got = int8_ops.w8a8(x_TK, int8_ops.int8_layout(codes_NK, scale_N1))
    want = quant_ops.w8a8_matmul(x_TK, codes_NK, scale_N1)
    step = 2**-7 if dtype == torch.bfloat16 else 1e-6
    assert got.dtype == dtype and got.shape == want.shape
    assert torch.allclose(got.double(), want.double(), rtol=step, atol=1e-6)


@pytest.mark.parametrize("rows, columns, tokens", SHAPES)
def test_sixteen_bits_of_an_activation_in_two_bytes(rows, columns, tokens):
    """Each |x| is off by at most half a step of max|x| / 32639, and the sum's rounding."""
    codes_NK, scale_N = codes(rows, columns), torch.rand(rows) + 0.5
    x_TK = torch.randn(tokens, columns, generator=torch.Generator().manual_seed(3))
    x_TK[:1] = 0
    weight = codes_NK.double() * scale_N[:, None].double()
    bound = (
        x_TK.double().abs().amax(-1, keepdim=True) * 0.51 / int8_ops.STEPS * weight.abs().sum(-1)
    )
    ways = [int8_ops.plain_w8a16(x_TK, codes_NK, scale_N)]
    if int8_ops.usable():
        ways.append(int8_ops.w8a16(x_TK, int8_ops.int8_layout(codes_NK, scale_N[:, None])))
    rounding = 1e-6 * (x_TK.double().abs() @ weight.abs().T)
    for got in ways:
        assert ((got.double() - x_TK.double() @ weight.T).abs() <= bound + rounding).all()


def test_both_ends_of_a_row_fit_into_two_bytes():
    x_TK = torch.tensor([[1.0, -1.0, 0.5, 0.0, 1e-3], [0.0] * 5])
    bytes_SK, step_T1 = int8_ops.two_bytes(x_TK)
    low_TK, high_TK = bytes_SK.double().sub(128).tensor_split(2)
    steps = 256 * high_TK + low_TK
    assert steps[0, :2].tolist() == [int8_ops.STEPS, -int8_ops.STEPS]
    assert (steps[1] == 0).all() and (steps[0] / int8_ops.STEPS - x_TK[0]).abs().max() < 2e-5


@needs_vnni
@pytest.mark.parametrize("scheme", ["int8", "w8a8"])
def test_a_large_layer_takes_the_layout_and_keeps_one_copy(scheme, monkeypatch):
    monkeypatch.setattr(layouts, "LARGE", 32 * 48)
    weight = torch.randn(32, 48, generator=torch.Generator().manual_seed(4))
    layer = QuantLinear(encode(weight, scheme, None, True, torch.bfloat16), scheme, compute="fast")
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    dense = layer.dequantize(torch.float32)
    x_TK = torch.randn(3, 48, generator=torch.Generator().manual_seed(5))
    off = (layer(x_TK) - x_TK @ dense.T).norm() / (x_TK @ dense.T).norm()
    assert off < (1e-2 if scheme == "w8a8" else 2e-4)
    assert isinstance(layer.layout, layouts.Int8Blocks) and layer.packed.numel() == 0
    assert torch.equal(layer.dequantize(torch.float32), dense)
    assert torch.equal(copy.deepcopy(layer).dequantize(torch.float32), dense)
    after = layer.state_dict()
    assert layer.layout is None and all(torch.equal(after[k], before[k]) for k in before)


def fast_layers(monkeypatch=None):
    """Small int8 and w8a8, and int8 as a large matrix."""
    for scheme, large in (("int8", False), ("w8a8", False), ("int8", True), ("int4", False)):
        if monkeypatch:
            monkeypatch.setattr(layouts, "LARGE", 1 if large else 1 << 22)
        weight = torch.randn(32, 64, generator=torch.Generator().manual_seed(7))
        group = 32 if scheme == "int4" else None
        yield QuantLinear(encode(weight, scheme, group, True, torch.bfloat16), scheme, None, "fast")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_any_dtype_and_stride_of_activations(rows, dtype, monkeypatch):
    for layer in fast_layers(monkeypatch):
        x_TK = torch.randn(64, rows, generator=torch.Generator().manual_seed(8)).to(dtype).T
        want = x_TK.double() @ layer.dequantize(torch.float64).T
        got = layer(x_TK)
        assert got.dtype == dtype and got.shape == (rows, 32)
        assert (got.double() - want).norm() <= 2e-2 * want.norm(), layer


def test_very_large_and_very_small_activations(monkeypatch):
    for layer in fast_layers(monkeypatch):
        for size in (1e-25, 1e30):
            x_TK = torch.randn(2, 64, generator=torch.Generator().manual_seed(9)) * size
            want = x_TK.double() @ layer.dequantize(torch.float64).T
            assert (layer(x_TK).double() - want).norm() <= 2e-2 * want.norm(), (layer, size)


def test_a_shallow_copy_and_a_pickle_leave_the_original_whole(monkeypatch):
    x_TK = torch.randn(2, 64, generator=torch.Generator().manual_seed(10))
    for layer in fast_layers(monkeypatch):
        want = layer(x_TK)
        for other in (copy.copy(layer), pickle.loads(pickle.dumps(layer))):
            assert torch.equal(other(x_TK), want) and torch.equal(layer(x_TK), want)
            assert torch.equal(other.dequantize(), layer.dequantize())


def test_a_packed_product_says_that_it_has_no_gradient(monkeypatch):
    for layer in fast_layers(monkeypatch):
        with pytest.raises(RuntimeError, match="no gradient"), torch.enable_grad():
            layer(torch.ones(1, 64, requires_grad=True))


def test_a_quantised_model_can_change_its_dtype_and_the_original_keeps_its():
    model, _ = minillm.load("tiny")
    tokens = torch.tensor([1, 2, 3])
    want = model(tokens)
    quantize(model, "int8").to(torch.bfloat16)
    simulate(model, 4).to(torch.bfloat16)
    assert torch.equal(model(tokens), want)
    new = quantize(model, "int4")
    assert new.head.weight is new.embedding.weight  # tied, as in the original


def test_outliers_apart_and_other_devices_take_the_plain_way():
    size = (64, 64, 64, False)
    assert layouts.choose("w8a8", *size, torch.device("cuda")) is None
    assert layouts.choose("nf4", *size, torch.device("cpu")) is None
    assert layouts.choose("int8", 64, 64, 64, True, torch.device("cpu")) is None
    weight = torch.randn(8, 16, generator=torch.Generator().manual_seed(6))
    layer = QuantLinear(encode(weight, "w8a8", None, True), "w8a8", compute="fast", outlier=6.0)
    layer(torch.full((1, 16), 7.0))
    assert layer.layout is None


def test_a_cpu_without_exact_products_is_not_used(monkeypatch):
    int8_ops.usable.cache_clear()
    wrong = lambda *_: torch.zeros(3, 5)
    monkeypatch.setattr(int8_ops, "_multiply", wrong)
    assert not int8_ops.usable()
    int8_ops.usable.cache_clear()
