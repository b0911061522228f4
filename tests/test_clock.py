"""The paper GPU: its counts against a real model, against loops, and against a model by hand."""

import subprocess
import sys

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from minillm import clock, few_rows
from minillm.clock import PAPER_GPU, Cost, Device
from minillm.config import ModelConfig
from minillm.model import Transformer

HAND = ModelConfig(  # small enough to count by hand: H=2, G=1, K=4, D=8, F=16, V=32
    family="llama", vocab_size=32, width=8, mlp_width=16, num_layers=3, num_heads=2,
    num_kv_heads=1, head_size=4, max_len=64, tie_embeddings=True,
)  # fmt: skip
SHAPES = [
    HAND,
    ModelConfig(
        family="qwen2", vocab_size=50, width=12, mlp_width=20, num_layers=2, num_heads=6,
        num_kv_heads=3, head_size=10, max_len=64, qkv_bias=True, output_bias=True, mlp_bias=True,
    ),
    ModelConfig(
        family="gemma3", vocab_size=40, width=16, mlp_width=24, num_layers=4, num_heads=4,
        num_kv_heads=1, head_size=8, max_len=64, windows=(3, None, 3, 3), qk_norm=True,
        post_norms=True, tie_embeddings=True,
    ),
]  # fmt: skip


def test_by_hand():
    """qkv 16x8, o 8x8, gate_up 32x8, down 8x16: 576 numbers a layer; head 32x8 = 256."""
    cost = clock.step_cost(HAND, rows=5, context=7, weight_bytes_per_parameter=2, kv_bytes=2)
    assert cost.linears == Cost(flops=2 * 5 * 576 * 3, bytes=2 * 576 * 3, launches=12)
    assert cost.head == Cost(flops=2 * 5 * 256, bytes=2 * 256, launches=1)
    # 4*H*K = 32 FLOPs a pair, 7 pairs a request; K and V of a token: 2*1*4*2 = 16 bytes a layer
    assert cost.attention == Cost(flops=32 * 7 * 5 * 3, bytes=16 * (7 + 1) * 5 * 3, launches=3)
    assert cost.total == cost.linears + cost.attention + cost.head
    assert (cost.flops, cost.bytes, cost.launches) == (23200, 5888, 16)


@pytest.mark.parametrize("config", SHAPES, ids=lambda c: c.family)
def test_matrices_are_those_of_the_model(config):
    model = Transformer(config)
    found = {}
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2 and "embedding" not in name:
            found.setdefault(name.split(".")[-2], []).append(tuple(parameter.shape))
    if config.tie_embeddings:
        found["head"] = [tuple(model.head.weight.shape)]
    assert {m.name: [(m.out, m.in_)] * m.count for m in clock.matrices(config)} == found
    assert clock.num_parameters(config) == model.num_parameters()


@pytest.mark.parametrize("config", SHAPES, ids=lambda c: c.family)
def test_flops_of_the_matrices_are_what_torch_counts(config, monkeypatch):
    monkeypatch.setattr(few_rows, "_MKL", False)  # one row is sent twice through small matrices
    model, rows = Transformer(config), 5
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.arange(rows), rows=torch.tensor([rows - 1]))
    counted = counter.get_flop_counts()["Global"]
    cost = clock.step_cost(config, rows, rows, 4, 4, requests=1)
    linear = sum(counted.get(op, 0) for op in (torch.ops.aten.mm, torch.ops.aten.addmm))
    assert cost.linears.flops + cost.head.flops == linear


@pytest.mark.parametrize("window", [None, 1, 3, 100])
def test_attention_against_counting_one_by_one(window):
    batch = [(1, 1), (1, 9), (4, 4), (3, 11)]
    pairs, moved = 0, 0
    for new, context in batch:
        looked_at = set()
        for position in range(context - new, context):
            keys = {k for k in range(position + 1) if window is None or k > position - window}
            pairs, looked_at = pairs + len(keys), looked_at | keys
        moved += len(looked_at) + new
    cost = clock.attention_cost(HAND, batch, window, kv_bytes=2)
    assert cost == Cost(flops=4 * 2 * 4 * pairs, bytes=moved * 16, launches=1)


def test_prefill_reads_its_keys_once_and_decode_once_a_request():
    prefill = clock.step_cost(HAND, 8, 8, 2, 2, requests=1).attention
    decode = clock.step_cost(HAND, 8, 8, 2, 2).attention
    assert prefill.bytes == 16 * 3 * (8 + 8) and decode.bytes == 16 * 3 * 8 * (8 + 1)
    assert prefill.flops == 32 * 3 * 36 and decode.flops == 32 * 3 * 64


def test_rows_share_the_bytes_of_the_matrices_only():
    one, many = (clock.step_cost(HAND, rows, 7, 2, 2) for rows in (1, 16))
    assert many.linears.bytes == one.linears.bytes and many.head.bytes == one.head.bytes
    assert many.attention.bytes == 16 * one.attention.bytes
    assert many.linears.intensity == 16 * one.linears.intensity
    assert many.attention.intensity == one.attention.intensity


def test_seconds_on_both_sides_of_the_ridge():
    device = Device(bandwidth=10, peak=40, memory=100, launch=0.5)
    assert device.ridge == 4
    assert clock.step_seconds(Cost(flops=40, bytes=20, launches=0), device) == 2  # bytes decide
    assert clock.step_seconds(Cost(flops=120, bytes=20, launches=3), device) == 3 + 1.5
    assert PAPER_GPU.ridge == pytest.approx(200)


@pytest.mark.parametrize("config", SHAPES, ids=lambda c: c.family)
def test_largest_batch_fits_and_one_more_does_not(config):
    weights = clock.num_parameters(config) * 2
    held = lambda seats: weights + seats * 7 * config.kv_bytes_per_token(2)
    batch = clock.largest_batch(config, 7, 2, 2, memory=60_000)
    assert batch > 0 and held(batch) <= 60_000 < held(batch + 1)
    assert clock.largest_batch(config, 7, 2, 2, memory=weights - 1) == 0
    assert clock.largest_batch(config, 7, 2, 2, memory=held(2)) == 2, "exactly full"


@pytest.mark.parametrize("rows, context, requests", [(5, 9, 2), (4, 9, 0), (6, 2, 1)])
def test_a_step_that_cannot_be_is_refused(rows, context, requests):
    with pytest.raises(ValueError, match=f"{rows} rows, {requests} requests"):
        clock.step_cost(HAND, rows, context, 2, 2, requests=requests)


def test_the_clock_moves_only_when_told():
    paper = clock.VirtualClock()
    cost = clock.step_cost(HAND, 1, 1, 2, 2)
    assert paper.charge(cost) == clock.step_seconds(cost) == paper.now
    assert paper.advance(1.5) == paper.now == clock.step_seconds(cost) + 1.5
    for back in (-1e-9, float("nan")):
        with pytest.raises(ValueError, match="time cannot move"):
            paper.advance(back)


def test_no_torch():
    code = "import sys, minillm.clock; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
