"""Exercise 13.1: take channels out of an MLP.

A gated MLP computes h_TF = silu(x_TD @ gate_FD.T) * (x_TD @ up_FD.T), and adds h_TF @ down_DF.T to
the residual stream (chapter 02). One of the F numbers of h is a channel: a row of gate, a row of
up, a column of down. All three go together. silu is torch.nn.functional.silu.

Which channels add least? x_TD is what reaches the MLP on real text (calibration). For each channel

    importance = (mean over the tokens of h squared) * (sum of the squares of its column of down)

Keep the `keep` channels with the largest importance, in their old order. If two are equally
important, the one with the lower number stays. Return the three smaller matrices.

Names for `trace`: h_TF, importance_F, kept (the numbers of the channels that stay).
"""

import torch
from torch import Tensor


def drop_channels(
    gate_FD: Tensor, up_FD: Tensor, down_DF: Tensor, x_TD: Tensor, keep: int
) -> tuple[Tensor, Tensor, Tensor]:
    """All float64. Returns gate, up [keep, D] and down [D, keep]."""
    raise NotImplementedError("Exercise 13.1: measure the channels, keep the best")
