"""The scoreboard's row of chapter 13: 30% fewer parameters, trained again if that model ships."""

from __future__ import annotations

from minillm.compress.calibrate import own_texts
from minillm.compress.shrink import shrink
from minillm.compress.tiny_shrunk import REMAINS
from minillm.files import LoadError
from minillm.load import load


def shrunk_tiny(model=None):
    """tiny shrunk and trained again, as it ships; without its files shrunk now and not trained."""
    try:
        return load("tiny-shrunk")[0]
    except LoadError:
        whole, tokenizer = load("tiny")
        return shrink(model or whole, calibration=own_texts(tokenizer), **REMAINS)


def shrunk_alike(model):
    """A blank model cut to the same shares of its parts; they are noise, so any may stay."""
    c = load("tiny")[0].config
    whole = {"layers": c.num_layers, "heads": c.num_heads, "channels": c.mlp_width}
    return shrink(model, **{part: count / whole[part] for part, count in REMAINS.items()})
