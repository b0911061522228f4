"""Layouts of packed CPU products: each holds the only copy of a layer's weights, and multiplies.

choose() picks one by the machine, the scheme and the shape, never by a timing.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from minillm import fbgemm_ops, int8_ops, quant_ops

LARGE = 1 << 21  # weights from which int8 takes two rows of bytes for a row (this project's CPU)
SLOW = 1 << 22  # from which w8a8 stays with oneDNN: slower for one row, ahead from 32 on
HUGE = 1 << 24  # weights of an output head: reading it is most of a step
PADDING = {16: 0.035, 8: 0.065}  # bits of activations -> what FBGEMM's layout may hold on top
PADDING_HUGE = 0.1  # where rows of 640 may take its place for 700


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


@dataclass(frozen=True)
class Int8Fbgemm:
    """FBGEMM's order: as Int8Blocks, and faster for a few rows. Only of shapes that fill it."""

    packed: object  # torch's, with the scales inside
    scale_N: Tensor  # the same scales again: they can be read from `packed` only with all codes
    columns: int
    activation_bits: int

    @classmethod
    def of(cls, codes_NK: Tensor, scale_N1: Tensor, bits: int) -> Int8Fbgemm:
        scale_N = scale_N1.flatten().float()
        return cls(fbgemm_ops.pack(codes_NK, scale_N), scale_N, codes_NK.shape[1], bits)

    def multiply(self, x_TK: Tensor) -> Tensor:
        product = fbgemm_ops.w8a8 if self.activation_bits == 8 else fbgemm_ops.w8a16
        rows = max(1, fbgemm_ops.RESULTS // len(self.scale_N) * 8 // self.activation_bits)
        if len(x_TK) <= rows:
            return product(x_TK, self.packed)
        return torch.cat([product(x_tK, self.packed) for x_tK in x_TK.split(rows)])

    def codes(self) -> Tensor:
        return fbgemm_ops.codes_of(self.packed)

    def scales(self) -> Tensor:
        return self.scale_N[:, None]

    def nbytes(self) -> tuple[int, int]:
        codes, scales = fbgemm_ops.layout_bytes(len(self.scale_N), self.columns)
        return codes, scales + self.scale_N.nbytes


def choose(scheme: str, rows: int, columns: int, group: int, zeros: bool, device: torch.device):
    """What makes a layout of (codes, scale, zero, group) for a matrix, or None: no packed product.

    zeros: whether there are zero points. w8a8 with outliers apart has none either.
    """
    if device.type != "cpu":
        return None
    if scheme == "w8a8":
        return _int8_maker(rows, columns, 8)
    if scheme == "int4" and quant_ops.fits(4, rows, columns, group, device):
        return Int4.of
    if scheme == "int8" and not zeros and group == columns:
        if rows * columns >= LARGE and (make := _int8_maker(rows, columns, 16)):
            return make
        if quant_ops.fits(8, rows, columns, group, device):
            return lambda codes, scale, *_: Int8Rows(*quant_ops.int8_layout(codes, scale))
    return None


def _int8_maker(rows: int, columns: int, bits: int):
    """FBGEMM's layout where the shape nearly fills it, else oneDNN's, or None."""
    huge = rows * columns >= HUGE
    slow = bits == 8 and rows * columns >= SLOW and not huge
    limit = PADDING_HUGE if huge else PADDING[bits]
    if not slow and fbgemm_ops.padding(rows, columns) <= limit and fbgemm_ops.usable():
        return lambda codes, scale, *_: Int8Fbgemm.of(codes, scale, bits)
    if int8_ops.usable():
        return lambda codes, scale, *_: Int8Blocks(int8_ops.int8_layout(codes, scale), bits)
    return None
