"""AWQ (Lin et al. 2024): make columns with large inputs larger before rounding, undo it outside.

W x = (W s) (x / s): a column multiplied by s > 1 loses less to rounding, and 1/s is folded into
whatever makes x. Every weight keeps the same number of bits. How much to scale is found by trying:
s = mean|x|^ratio for some ratios, the one whose output error is smallest.
"""

from __future__ import annotations

import torch
from torch import Tensor

from minillm.compress.calibrate import Inputs
from minillm.compress.formats import Coded

RATIOS = 20  # tried: 0, 1/20, ... 19/20


def best_scale(weight_NK: Tensor, inputs: Inputs, coder, ratios: int = RATIOS) -> Tensor:
    """The factor of every column, [K]; 1 everywhere where nothing is better.

    coder(weight) -> Coded. Channels without input keep 1; factors are normalised so that their
    largest and smallest are each other's inverse, as in the paper's program.
    """
    mean_K = inputs.abs_K / max(inputs.count, 1)
    live = mean_K > 0
    best, least = torch.ones_like(mean_K), None
    for step in range(ratios):
        scale_K = torch.where(live, mean_K.clamp(min=1e-12) ** (step / ratios), 1.0)
        if live.any():
            middle = (scale_K[live].max() * scale_K[live].min()).sqrt()
            scale_K = torch.where(live, scale_K / middle, 1.0)
        if not scale_K.isfinite().all() or (scale_K <= 0).any():
            continue
        loss = output_error(weight_NK, scaled(weight_NK, scale_K, coder), inputs.hessian_KK)
        if least is None or loss < least:
            best, least = scale_K, loss
    return best


def scaled(weight_NK: Tensor, scale_K: Tensor, coder) -> Tensor:
    """What the layer computes with when its columns were scaled, rounded and scaled back."""
    scale_K = scale_K.to(weight_NK.dtype)
    return coder(weight_NK * scale_K).dequantize(weight_NK.dtype) / scale_K


def output_error(weight_NK: Tensor, other_NK: Tensor, hessian_KK: Tensor) -> float:
    """|X W^T - X Q^T|^2 over the calibration tokens, from H = X^T X alone."""
    difference = (weight_NK - other_NK).double()
    return float(((difference @ hessian_KK) * difference).sum())


def clipped(weight_NK: Tensor, inputs: Inputs, coder, steps: int = 10) -> Coded:
    """The same rounding with each row's range shrunk to where its output error is smallest.

    Tries ranges of 1, 0.95, ... of the largest weight, row by row.
    """
    limit_N1 = weight_NK.abs().amax(1, keepdim=True)
    best, least = None, None
    for step in range(steps):
        limit = limit_N1 * (1 - 0.05 * step)
        coded = coder(weight_NK.clamp(-limit, limit))
        difference = (weight_NK - coded.dequantize(weight_NK.dtype)).double()
        loss_N = ((difference @ inputs.hessian_KK) * difference).sum(1)
        if best is None:
            best, least = coded, loss_N
            continue
        better = loss_N < least
        least = torch.where(better, loss_N, least)
        best = _choose(better, coded, best)
    return best


def _choose(better_N: Tensor, one: Coded, other: Coded) -> Coded:
    pick = lambda a, b: None if a is None else torch.where(better_N[:, None], a, b)
    return Coded(
        pick(one.codes_NK, other.codes_NK), pick(one.scale_NG, other.scale_NG),
        pick(one.zero_NG, other.zero_NG), one.group, one.nf4,
    )  # fmt: skip


def fold_into_norm(norm, scale_K: Tensor) -> None:
    """Divide a norm's output by scale_K: its weight w becomes w / s, or (1 + w) / s - 1."""
    weight = norm.weight.detach().double()
    full = (1 + weight if norm.plus_one else weight) / scale_K
    new = full - 1 if norm.plus_one else full
    norm.weight = torch.nn.Parameter(new.to(norm.weight.dtype), requires_grad=False)


def fold_into_rows(linear, scale_N: Tensor, start: int) -> None:
    """Divide len(scale_N) outputs of a linear layer, from row `start` on, by scale_N."""
    rows = slice(start, start + len(scale_N))
    for name in ("weight", "bias"):
        old = getattr(linear, name)
        if old is not None:
            new = old.detach().clone()
            divide = scale_N[:, None] if new.dim() == 2 else scale_N
            new[rows] = (new[rows].double() / divide).to(new.dtype)
            setattr(linear, name, torch.nn.Parameter(new, requires_grad=False))
