"""The scoreboard's row of chapter 12: half of the weights are 0, in dense matrices as before."""

from __future__ import annotations


def half_gone(model):
    """50% by SparseGPT, calibrated on 60 items of what `tiny` was trained on, none of the tests."""
    from minillm import load
    from minillm.compress.calibrate import own_texts
    from minillm.compress.prune import prune

    return prune(model, "sparsegpt", 0.5, calibration=own_texts(load("tiny")[1], 60))


def half_gone_by_size(model):
    """As many zeros in a moment, for the blank model, whose numbers are noise."""
    from minillm.compress.prune import prune

    return prune(model, "magnitude", 0.5)
