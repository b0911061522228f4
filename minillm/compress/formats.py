"""A matrix as small whole numbers and scales, rounded to nearest: int2 to int8, and NF4.

Everything here works on one matrix [N, K] and keeps the codes unpacked, one int8 each; packing.py
makes words of them. A scale serves a group of neighbouring columns of one row; the last group of a
row may be shorter.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor


@dataclass(frozen=True)
class Coded:
    """One quantised matrix: value = (code - zero) * scale, or level[code] * scale for NF4."""

    codes_NK: Tensor  # int8
    scale_NG: Tensor  # the dtype in which scales are kept
    zero_NG: Tensor | None  # int8, or None: 0
    group: int  # columns a scale serves
    nf4: bool = False

    def dequantize(self, dtype: torch.dtype | None = None) -> Tensor:
        """The matrix that the codes stand for -> [N, K]."""
        dtype = dtype or self.scale_NG.dtype
        return decode(self.codes_NK, self.scale_NG, self.zero_NG, self.group, self.nf4, dtype)


def decode(codes_NK, scale_NG, zero_NG, group: int, nf4: bool, dtype) -> Tensor:
    """value = (code - zero) * scale in at least float32, then rounded to dtype -> [N, K]."""
    wide = torch.promote_types(scale_NG.dtype, torch.float32)
    if nf4:
        value_NK = nf4_levels(wide, codes_NK.device)[codes_NK.long() + 8]
    else:
        value_NK = codes_NK.to(wide)
    if zero_NG is not None:
        value_NK = value_NK - spread(zero_NG.to(wide), group, codes_NK.shape[1])
    return (value_NK * spread(scale_NG.to(wide), group, codes_NK.shape[1])).to(dtype)


def spread(x_NG: Tensor, group: int, columns: int) -> Tensor:
    """One value a group -> one a column: [N, G] to [N, K]."""
    if x_NG.shape[1] == 1:
        return x_NG.expand(-1, columns)
    return x_NG.repeat_interleave(group, dim=1)[:, :columns]


def check_finite(weight_NK: Tensor) -> None:
    """Raises ValueError for inf or NaN: no scale could be right."""
    if not weight_NK.isfinite().all():
        raise ValueError("the matrix holds inf or NaN: it cannot be quantised")


def symmetric(weight_NK: Tensor, bits: int, group: int | None, scale_dtype=None) -> Coded:
    """scale = 2 * max|w| / (2^bits - 1), code = round(w / scale): compressed-tensors' convention.

    The range is one step longer below zero, so +max comes back half a step too small: no error is
    larger than half a step and one rounding. group: columns a scale serves, None is the whole row.
    scale_dtype: default the weights' own; scales of 16 bits are rounded up. Raises ValueError for
    bits outside 2..8, inf, NaN, and scales that scale_dtype cannot hold.
    """
    grouped_NGg, group = _grouped(weight_NK, bits, group)
    scale_NG = grouped_NGg.abs().amax(-1) * (2 / (2**bits - 1))
    scale_NG = store_scale(scale_NG, scale_dtype or weight_NK.dtype)
    codes_NK = encode(weight_NK, scale_NG, None, bits, group)
    return Coded(codes_NK, scale_NG, None, group)


def asymmetric(weight_NK: Tensor, bits: int, group: int | None, scale_dtype=None) -> Coded:
    """Least to greatest value, zero among them, over all codes: scale = (max - min) / (2^bits - 1).

    zero is the code of the value 0, so zeros stay zeros. Other arguments as for symmetric().
    """
    grouped_NGg, group = _grouped(weight_NK, bits, group)
    low_NG, high_NG = grouped_NGg.amin(-1).clamp(max=0), grouped_NGg.amax(-1).clamp(min=0)
    # Each end divided first: high - low alone may be too large for the format.
    scale_NG = high_NG / (2**bits - 1) - low_NG / (2**bits - 1)
    scale_NG = store_scale(scale_NG, scale_dtype or weight_NK.dtype)
    half = 1 << (bits - 1)
    zero_NG = (-half - low_NG / scale_NG.to(low_NG.dtype)).round().clamp(-half, half - 1)
    zero_NG = zero_NG.to(torch.int8)
    codes_NK = encode(weight_NK, scale_NG, zero_NG, bits, group)
    return Coded(codes_NK, scale_NG, zero_NG, group)


def encode(weight_NK: Tensor, scale_NG: Tensor, zero_NG, bits: int, group: int) -> Tensor:
    """round(w / scale) + zero, kept in range -> int8 codes [N, K]; scales as they will be kept."""
    wide, columns, half = _wide(weight_NK), weight_NK.shape[1], 1 << (bits - 1)
    code_NK = (wide / spread(scale_NG.to(wide.dtype), group, columns)).round()
    if zero_NG is not None:
        code_NK = code_NK + spread(zero_NG.to(wide.dtype), group, columns)
    return code_NK.clamp(-half, half - 1).to(torch.int8)


def nf4(weight_NK: Tensor, group: int | None, scale_dtype=torch.float32) -> Coded:
    """NormalFloat of 4 bits (Dettmers et al. 2023): the nearest of 16 levels, times max|w|.

    The levels lie so that normally distributed weights use all of them equally often. Codes are
    -8 .. 7, the place of the level less 8. Raises ValueError for inf and NaN.
    """
    grouped_NGg, group = _grouped(weight_NK, 4, group)
    scale_NG = store_scale(grouped_NGg.abs().amax(-1), scale_dtype)
    wide, levels = _wide(weight_NK), nf4_levels(_wide(weight_NK).dtype, weight_NK.device)
    unit_NK = wide / spread(scale_NG.to(wide.dtype), group, weight_NK.shape[1])
    between = (levels[1:] + levels[:-1]) / 2
    codes_NK = (torch.bucketize(unit_NK.contiguous(), between) - 8).to(torch.int8)
    return Coded(codes_NK, scale_NG, None, group, nf4=True)


def nf4_levels(dtype=torch.float32, device=None) -> Tensor:
    """The 16 levels, -1 to 1: quantiles of the normal distribution, eight and seven, and 0.

    The outermost quantile is the mean of 1 - 1/30 and 1 - 1/32 (appendix E of the paper).
    """
    outermost, quantile = (2 - 1 / 30 - 1 / 32) / 2, NormalDist().inv_cdf
    side = lambda n: [quantile(outermost + (0.5 - outermost) * i / n) for i in range(n)]
    levels = sorted([-x for x in side(7)] + [0.0] + side(8))
    return torch.tensor([x / max(levels) for x in levels], dtype=dtype, device=device)


def store_scale(scale_NG: Tensor, dtype: torch.dtype) -> Tensor:
    """Scales in the dtype in which they are kept; never smaller than they were, never 0.

    Rounded up, because a smaller scale would leave the largest weight out of reach: an error of
    0.53 of a step has been seen. A group of zeros gets scale 1, all its codes are 0. Below the
    smallest normal number of scale_NG there are too few bits for a scale: that number is kept.
    """
    smallest = torch.finfo(scale_NG.dtype).tiny
    kept = torch.where(scale_NG > 0, scale_NG.clamp(min=smallest), 0).to(dtype)
    if kept.element_size() == 2:
        bits = kept.view(torch.int16)  # a positive float's next one is its bits + 1
        kept = torch.where(kept.to(scale_NG.dtype) < scale_NG, bits + 1, bits).view(dtype)
    if not kept.isfinite().all():
        raise ValueError(
            f"a scale of {float(scale_NG.max()):.4g} does not fit {dtype}: keep scales in float32"
        )
    return torch.where(kept == 0, torch.ones_like(kept), kept)


def _grouped(weight_NK: Tensor, bits: int, group: int | None) -> tuple[Tensor, int]:
    """[N, K] -> [N, G, group] in wide precision, filled up with zeros; and the group's size."""
    if not 2 <= bits <= 8:
        raise ValueError(f"bits must be from 2 to 8, got {bits}")
    if weight_NK.dim() != 2 or 0 in weight_NK.shape:
        raise ValueError(f"a matrix [N, K] is needed, got {list(weight_NK.shape)}")
    check_finite(weight_NK)
    columns = weight_NK.shape[1]
    group = columns if group is None else min(group, columns)
    if group < 1:
        raise ValueError(f"group must be at least 1 column, or None for the row, got {group}")
    filled = torch.nn.functional.pad(_wide(weight_NK), (0, -columns % group))
    return filled.unflatten(1, (-1, group)), group


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype in (torch.float32, torch.float64) else x.float()
