"""Layouts of packed CPU products: each holds the only copy of a layer's weights, and multiplies.

choose() picks one by the machine, the scheme and the shape, never by a timing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from minillm import int8_ops, quant_ops


@dataclass(frozen=True)
class Int4:
    """torch's packed int4 product: codes in its order, a scale and an offset a group."""

    packed: Tensor
    both_GN2: Tensor
    group: int

    @classmethod
    def of(cls, codes_NK, scale_NG, zero_NG, group: int) -> Int4:
        return cls(*quant_ops.int4_layout(codes_NK, scale_NG, zero_NG, group))

    def multiply(self, x_TK: Tensor) -> Tensor:
        return quant_ops.int4_matmul(x_TK, (self.packed, self.both_GN2, self.group))

    def codes(self) -> Tensor:
        return quant_ops.int4_codes((self.packed, self.both_GN2, self.group))

    def scales(self) -> Tensor:
        return self.both_GN2[..., 0].T.contiguous()

    def nbytes(self) -> tuple[int, int]:
        return self.packed.nbytes, self.both_GN2.nbytes


@dataclass(frozen=True)
class Int8Rows:
    """Small int8 matrices: codes in plain order.

    One row takes torch's product (bfloat16 activations), which costs the least to call; more rows
    would take it several times as long, so they go through the integer product.
    """

    codes_NK: Tensor
    scale_N: Tensor

    def multiply(self, x_TK: Tensor) -> Tensor:
        if x_TK.shape[0] > 1 and int8_ops.usable():
            return int8_ops.plain_w8a16(x_TK, self.codes_NK, self.scale_N)
        return quant_ops.int8_matmul(x_TK, (self.codes_NK, self.scale_N))

    def codes(self) -> Tensor:
        return self.codes_NK

    def scales(self) -> Tensor:
        return self.scale_N[:, None]

    def nbytes(self) -> tuple[int, int]:
        return self.codes_NK.nbytes, self.scale_N.nbytes


@dataclass(frozen=True)
class Int8Blocks:
    """oneDNN's order, for 8 bits of each activation (w8a8) or 16 (weights only)."""

    parts: tuple[Tensor, Tensor, Tensor]
    activation_bits: int

    def multiply(self, x_TK: Tensor) -> Tensor:
        product = int8_ops.w8a8 if self.activation_bits == 8 else int8_ops.w8a16
        return product(x_TK, self.parts)

    def codes(self) -> Tensor:
        return int8_ops.codes_of(self.parts)

    def scales(self) -> Tensor:
        return self.parts[1][:, None]

    def nbytes(self) -> tuple[int, int]:
        return int8_ops.layout_bytes(self.parts)


def choose(scheme: str, rows: int, columns: int, group: int, zeros: bool, device: torch.device):
    """What makes a layout of (codes, scale, zero, group) for a matrix, or None: no packed product.

    zeros: whether there are zero points. w8a8 with outliers apart has none either.
    """
    if device.type != "cpu":
        return None
    blocks = lambda bits: (
        lambda codes, scale, *_: Int8Blocks(int8_ops.int8_layout(codes, scale), bits)
    )
    if scheme == "w8a8":
        return blocks(8) if int8_ops.usable() else None
    if scheme == "int4" and quant_ops.fits(4, rows, columns, group, device):
        return Int4.of
    if scheme == "int8" and not zeros and group == columns:
        if rows * columns >= int8_ops.LARGE and int8_ops.usable():
            return blocks(16)
        if quant_ops.fits(8, rows, columns, group, device):
            return lambda codes, scale, *_: Int8Rows(*quant_ops.int8_layout(codes, scale))
    return None
