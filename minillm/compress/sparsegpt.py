"""SparseGPT (Frantar & Alistarh 2023): drop a column's weights, mend the columns after it.

The same step as GPTQ's, with 0 in the place of the nearest code. A weight is worth w^2 / u^2, where
u is its column's entry on the diagonal of the inverse Hessian's Cholesky factor: that is the loss
of dropping it once the others have made up for it as well as they can.
"""

from __future__ import annotations

import torch
from torch import Tensor

from minillm.compress.formats import check_finite
from minillm.compress.gptq import DAMP, inverse_factor
from minillm.compress.masks import count_pruned, lowest, lowest_of_groups

BLOCK = 128  # columns whose weights are compared with each other, over all rows


def sparsegpt(
    weight_NK: Tensor,
    hessian_KK: Tensor,
    sparsity: float = 0.5,
    pattern: tuple[int, int] | None = None,
    damp: float = DAMP,
    block: int = BLOCK,
    upper_KK: Tensor | None = None,
) -> Tensor:
    """The pruned and mended matrix -> [N, K], its dropped weights exactly 0.

    hessian_KK: sum of x x^T over calibration tokens, any scale. Weights of columns whose input was
    always 0 go first. upper_KK: inverse_factor(hessian_KK), if it is known already.
    Raises ValueError for inf or NaN.
    """
    check_finite(weight_NK)
    rows, columns = weight_NK.shape
    if pattern:
        block = max(1, block // pattern[1]) * pattern[1]
    work = weight_NK.to(torch.promote_types(weight_NK.dtype, torch.float32)).clone()
    upper = inverse_factor(hessian_KK, damp) if upper_KK is None else upper_KK
    upper = upper.to(work.dtype)
    price_K = upper.diagonal().square().reciprocal()
    price_K[hessian_KK.diagonal() <= 0] = 0
    dropped = 0
    for start in range(0, columns, block):
        end = min(start + block, columns)
        errors = torch.zeros(rows, end - start, dtype=work.dtype, device=work.device)
        if pattern is None:
            wanted = count_pruned(sparsity, rows * end) - dropped
            mask = lowest(work[:, start:end].square() * price_K[start:end], wanted)
            dropped += wanted
        else:
            mask = torch.ones(rows, end - start, dtype=torch.bool, device=work.device)
        for i in range(start, end):
            if pattern and i % pattern[1] == 0:
                group = slice(i, i + pattern[1])
                scores = work[:, group].square() * price_K[group]
                mask[:, i - start : i - start + pattern[1]] = lowest_of_groups(scores, pattern)
            value = work[:, i].masked_fill(~mask[:, i - start], 0.0)
            errors[:, i - start] = (work[:, i] - value) / upper[i, i]
            work[:, i] = value
            work[:, i + 1 : end] -= errors[:, i - start, None] * upper[i, i + 1 : end]
        work[:, end:] -= errors @ upper[start:end, end:]
    return work.to(weight_NK.dtype)
