"""Exercise 13.3: how much does each layer do? (ShortGPT, Men et al. 2024)

A layer reads the residual stream (chapter 02) and returns it with something added. If the stream
points in the same direction as before, the layer did little. So the influence of a layer is

    1 - (mean over all tokens of the cosine between what enters the layer and what leaves it)

The cosine of two vectors a, b is a . b / (|a| |b|).

Each text is read by itself, from the first layer to the last. Texts differ in length, and every
token counts the same: a long text weighs more than a short one. Return one number for each layer.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def influence(layers: list[Callable[[Tensor], Tensor]], texts: list[Tensor]) -> list[float]:
    """layers: functions [T, D] -> [T, D]. texts: what enters layer 0, float64 [T, D] each."""
    raise NotImplementedError("Exercise 13.3: send every text through the layers, compare")
