"""Products with int8 weights in FBGEMM's layout: the fastest for a few rows on a CPU.

It quantises the activations itself, multiplies in int32, and scales on the way out, in one call of
small fixed cost; oneDNN (int8_ops.py) is called with bytes and costs twice as much for one row.
PyTorch has announced that its quantised tensors will go, which packing needs: where this is
missing, oneDNN does the same work.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from threading import Lock

import torch
from torch import Tensor

from minillm.int8_ops import ONE, join, most
from minillm.scalars import scalar

ROWS, COLUMNS = 48, 512  # a block of its layout; a part of one is given the place of a whole
PAGE, HEADER = 4096, 64  # bytes; the header is the allocator's, before the first block
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
MIDDLE = 128
RESULTS = 1 << 22  # numbers of a product that stay near the core; more go in parts
LOW = 255  # a step of the high byte in steps of the low one: odd, so no number lies between two
STEPS = 127 * LOW + 127
_ALONE = Lock()  # the engine and the filters of warnings belong to the whole process


@lru_cache(maxsize=1)
def usable() -> bool:
    """Whether this CPU and this torch give exact products: tried once, with the largest bytes.

    Without AVX-512 VNNI the library adds two products in 16 bits, which can overflow.
    """
    vnni = getattr(torch.cpu, "_is_vnni_supported", None)  # not a public function
    if vnni is None or not vnni() or "fbgemm" not in torch.backends.quantized.supported_engines:
        return False
    x_TK = torch.full((3, COLUMNS), 127.0)
    x_TK[1] = -128
    codes_NK = torch.full((ROWS, COLUMNS), -128, dtype=torch.int8)
    codes_NK[1::2] = 127
    try:
        packed = pack(codes_NK, torch.ones(ROWS))
        got_TN, same = _multiply(x_TK, packed), torch.equal(codes_of(packed), codes_NK)
    except (AttributeError, RuntimeError):
        return False
    return same and torch.equal(got_TN, (x_TK.long() @ codes_NK.long().T).float())


def layout_bytes(rows: int, columns: int) -> tuple[int, int]:
    """Bytes of codes (row sums and zero points, int32, included) and of scales, as held.

    The library does not tell. It reserves whole blocks; of the last block along the columns only
    the pages that it writes take memory, which is what is counted.
    """
    block, last = ROWS * COLUMNS, -(-(columns % COLUMNS) // 4) * 4 * ROWS
    if last:
        last = block if huge_pages() else min(block, -(-(last + HEADER) // PAGE) * PAGE)
    stripe = columns // COLUMNS * block + last
    return -(-rows // ROWS) * stripe + rows * 8, rows * 4


@lru_cache(maxsize=1)
def huge_pages() -> bool:
    """Whether Linux gives memory 2 MB at a time, unasked: then all that is reserved is taken."""
    try:
        return "[always]" in HUGE_PAGES.read_text()
    except OSError:
        return False


def padding(rows: int, columns: int) -> float:
    """What the layout holds beyond one byte a weight, as a part of that."""
    return sum(layout_bytes(rows, columns)) / (rows * columns) - 1


def pack(codes_NK: Tensor, scale_N: Tensor):
    """The layout: an object of torch's that holds the codes, and a float32 scale a row."""
    zero_N = torch.zeros(len(scale_N), dtype=torch.int64)
    with _ALONE, warnings.catch_warnings():
        engine = torch.backends.quantized.engine
        torch.backends.quantized.engine = "fbgemm"
        try:
            warnings.filterwarnings("ignore", message=".*quantized tensor creation functions.*")
            weight = torch._make_per_channel_quantized_tensor(
                codes_NK.contiguous(), scale_N.double(), zero_N, 0
            )
            return torch.ops.quantized.linear_prepack(weight, None)
        finally:
            torch.backends.quantized.engine = engine


def codes_of(packed) -> Tensor:
    """The codes again -> int8 [N, K]."""
    return torch.ops.quantized.linear_unpack(packed)[0].int_repr()


def w8a8(x_TK: Tensor, packed) -> Tensor:
    """As quant_ops.w8a8_matmul without outliers: 8 bits of each activation -> [T, N].

    The library rounds x + 128, whose float32 has lost what tells 1.4999999 from a tie.
    """
    scale_T1 = most(x_TK).mul_(scalar(2 / 255))
    whole_TK = torch.div(x_TK.float(), scale_T1).round_()
    return _multiply(whole_TK, packed).mul_(scale_T1).to(x_TK.dtype)


def w8a16(x_TK: Tensor, packed) -> Tensor:
    """Weight-only int8: 15.99 bits of each activation, as two rows of bytes -> [T, N].

    x in steps of max|x| / STEPS is 255 high + low, both whole numbers from -127 to 127.
    """
    step_T1, one = most(x_TK).mul_(scalar(1 / STEPS)), scalar(float(ONE))
    steps_TK = torch.div(x_TK.float(), step_T1).add_(one).sub_(one)  # rounds, see int8_ops
    high_TK = torch.add(one, steps_TK, alpha=1 / LOW).sub_(one)
    low_TK = torch.add(steps_TK, high_TK, alpha=-LOW)
    return join(_multiply(torch.cat((low_TK, high_TK)), packed), LOW, step_T1, x_TK.dtype)


def _multiply(x_TK: Tensor, packed) -> Tensor:
    """x @ (codes * scale).T, x whole and cut to a byte, summed exactly -> float32 [T, N]"""
    product = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
    return product(x_TK, 1.0, MIDDLE, packed)
