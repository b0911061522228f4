"""The scoreboard's row of chapter 12: half of the weights are 0, in dense matrices as before."""

from __future__ import annotations

import itertools

from minillm import corpus


def half_gone(model):
    """50% by SparseGPT, calibrated on 60 items of what `tiny` was trained on, none of the tests."""
    from minillm import load
    from minillm.compress.prune import prune

    items = itertools.islice(corpus.training_items(7), 60)
    texts = [load("tiny")[1].encode(item.prompt + item.answer) for item in items]
    return prune(model, "sparsegpt", 0.5, calibration=texts)


def half_gone_by_size(model):
    """As many zeros in a moment, for the blank model, whose numbers are noise."""
    from minillm.compress.prune import prune

    return prune(model, "magnitude", 0.5)
