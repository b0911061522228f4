"""GPTQ (Frantar et al. 2023): round one column, mend the columns that come after it.

The error that matters is that of the layer's output, |X W^T - X Q^T|^2 = tr(D H D^T) with
D = W - Q and H = X^T X. After a column is rounded, the best correction of the others follows from
the inverse of H; its Cholesky factor gives every step's row at once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from minillm.compress.formats import Coded, asymmetric, check_finite, symmetric

DAMP = 0.01  # added to the diagonal, as a share of its mean
BLOCK = 128  # columns corrected at once; the result does not depend on it


def gptq(
    weight_NK: Tensor,
    hessian_KK: Tensor,
    bits: int,
    group: int | None,
    is_symmetric: bool = True,
    act_order: bool = False,
    damp: float = DAMP,
    block: int = BLOCK,
    scale_dtype=None,
) -> Coded:
    """Codes and scales of one layer, chosen for its outputs.

    hessian_KK: sum of x x^T over calibration tokens, any scale. act_order: columns with the
    largest inputs first; scales are then those of the unchanged weights ("static groups"), so that
    codes keep their place. Otherwise a group's scale is taken when its first column is reached,
    from the weights as corrected by then. Columns whose input was always 0 are rounded to nearest.
    A weight that is exactly 0 stays 0, so pruning survives.
    Raises ValueError for inf or NaN.
    """
    check_finite(weight_NK)
    rows, columns = weight_NK.shape
    group = columns if group is None else min(group, columns)
    scale_dtype = scale_dtype or weight_NK.dtype
    work = weight_NK.to(torch.promote_types(weight_NK.dtype, torch.float32)).clone()
    pruned = weight_NK == 0
    order = torch.arange(columns)
    if act_order:
        order = hessian_KK.diagonal().argsort(descending=True, stable=True).cpu()
    upper = inverse_factor(hessian_KK[order][:, order], damp).to(work.dtype)
    coder = _Coder(weight_NK, bits, group, is_symmetric, scale_dtype, static=act_order)
    work = work[:, order]
    for start in range(0, columns, block):
        end = min(start + block, columns)
        errors = torch.zeros(rows, end - start, dtype=work.dtype, device=work.device)
        for i in range(start, end):
            if not act_order and i % group == 0:
                # What the blocks' lazy update still owes to columns of this group further on.
                ahead = work[:, i : i + group].clone()
                if i + group > end:
                    ahead[:, end - i :] -= errors[:, : i - start] @ upper[start:i, end : i + group]
                coder.start_group(i // group, ahead)
            place = int(order[i])
            value = coder.round(place, work[:, i].masked_fill(pruned[:, place], 0.0))
            errors[:, i - start] = (work[:, i] - value) / upper[i, i]
            work[:, i + 1 : end] -= errors[:, i - start, None] * upper[i, i + 1 : end]
        work[:, end:] -= errors @ upper[start:end, end:]
    return coder.result()


def inverse_factor(hessian_KK: Tensor, damp: float = DAMP) -> Tensor:
    """Upper Cholesky factor of the inverse of H, damped until it exists -> [K, K] float64.

    Too little text (fewer tokens than columns, equal texts) leaves H singular: the damping is
    raised tenfold until the factorisation works.
    """
    hessian = hessian_KK.double().clone()
    diagonal = hessian.diagonal()
    dead = diagonal <= 0
    hessian[dead] = 0
    hessian[:, dead] = 0
    mean = float(diagonal[~dead].mean()) if (~dead).any() else 1.0
    hessian.diagonal()[dead] = mean or 1.0
    for _ in range(12):
        damped = hessian.clone()
        damped.diagonal().add_(damp * (mean or 1.0))
        lower, bad = torch.linalg.cholesky_ex(damped)
        if not bad:
            inverse = torch.cholesky_inverse(lower)
            upper, bad = torch.linalg.cholesky_ex(inverse, upper=True)
            if not bad and upper.isfinite().all():
                return upper
        damp = max(damp * 10, 1e-8)
    raise ValueError("the calibration inputs give no usable Hessian: inf, NaN or nothing but zeros")


class _Coder:
    """Scales and zero points of one layer, and the rounding of one column at a time."""

    def __init__(self, weight_NK, bits, group, is_symmetric, scale_dtype, static):
        self.bits, self.group, self.scale_dtype = bits, group, scale_dtype
        self.rule = symmetric if is_symmetric else asymmetric
        rows, columns = weight_NK.shape
        groups = -(-columns // group)
        self.codes = torch.zeros(rows, columns, dtype=torch.int8, device=weight_NK.device)
        self.scale = torch.zeros(rows, groups, dtype=scale_dtype, device=weight_NK.device)
        self.zero = None if is_symmetric else torch.zeros_like(self.scale, dtype=torch.int8)
        if static:
            whole = self.rule(weight_NK, bits, group, scale_dtype)
            self.scale, self.zero = whole.scale_NG, whole.zero_NG

    def start_group(self, number: int, columns_Ng: Tensor) -> None:
        """Fix a group's scale (and zero) from its weights as they are now."""
        part = self.rule(columns_Ng, self.bits, None, self.scale_dtype)
        self.scale[:, number] = part.scale_NG[:, 0]
        if self.zero is not None:
            self.zero[:, number] = part.zero_NG[:, 0]

    def round(self, place: int, column_N: Tensor) -> Tensor:
        """Code column `place` -> the values its codes stand for."""
        half = 1 << (self.bits - 1)
        scale = self.scale[:, place // self.group].to(column_N.dtype)
        zero = 0 if self.zero is None else self.zero[:, place // self.group].to(column_N.dtype)
        code = ((column_N / scale).round() + zero).clamp(-half, half - 1)
        self.codes[:, place] = code.to(torch.int8)
        return (code - zero) * scale

    def result(self) -> Coded:
        return Coded(self.codes, self.scale, self.zero, self.group)
