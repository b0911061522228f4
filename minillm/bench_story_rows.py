"""The steps of the story: what each row does to memory, engine and weights, and where it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from minillm.cache.paged import PagedCache
from minillm.cache.simple import StripCache
from minillm.config import EngineConfig
from minillm.engine.pool import block_bytes, pool_dtype
from minillm.scoreboard import Change, no_cache, packed
from minillm.scoreboard_engines import STRIP, PagedAlone
from minillm.scoreboard_quality import Memory
from minillm.scoreboard_shrunk import shrunk_alike, shrunk_tiny
from minillm.workload import COUNT

BLOCK = 16  # tokens
SEATS = 128  # at most; memory allows fewer, or there are fewer requests
FLOAT = "prefix cache"  # the row that weights and K/V of fewer bits are compared with
ALL = "all together"
ConfigOf = Callable[[object, int], EngineConfig]  # (model, bytes for weights and cache) -> config


@dataclass(frozen=True)
class Step:
    """One row of the story."""

    name: str
    chapter: str
    why: str  # what it does, and where it wins nothing
    memory: Memory = PagedAlone  # through which quality is read
    config_of: ConfigOf | None = None  # None: one request after another through the memory
    requests: int = COUNT  # of W's, the first ones: fewer where all would take too long
    change: Change = None  # what is done to `tiny`
    blank: Change = None  # the same to the blank model, whose numbers are noise; None: `change`
    compared: str | None = None  # beside the row before: the row that this one starts from


def room(model, budget: int, block_size: int, kv_dtype: str = "auto") -> int:
    """Blocks that fit into what the weights leave of the budget."""
    left = budget - weight_bytes(model)
    blocks = int(left // block_bytes(model, block_size, pool_dtype(model, kv_dtype)[1]))
    if blocks < 1:
        raise ValueError(f"{left / 1e6:.1f} MB are left: no block of {block_size} tokens fits")
    return blocks


def pool(block_size: int = BLOCK, kv_dtype: str = "auto", **options) -> ConfigOf:
    """An engine whose pool is all that the weights leave of the budget."""
    options = {"prefix_caching": False} | options

    def config_of(model, budget: int) -> EngineConfig:
        blocks = room(model, budget, block_size, kv_dtype)
        return EngineConfig(block_size, blocks, min(SEATS, blocks), kv_dtype=kv_dtype, **options)

    return config_of


def weight_bytes(model) -> int:
    """Bytes of all weights that are really held."""
    return sum(sum(kinds.values()) for kinds in model.weight_bytes().values())


def int8_alone(model, max_len: int) -> PagedAlone:
    """The pool of one request with K and V in int8, for quality."""
    alone, weight = PagedAlone(model, max_len), model.embedding.weight
    alone.cache = PagedCache(
        model.config, alone.cache.num_blocks, BLOCK, weight.dtype, "int8", weight.device
    )
    return alone


def all_of_tiny(model):
    """Shrunk, trained again, then w8a8: the weight format made for many rows."""
    return packed("w8a8")(shrunk_tiny(model))


def all_of_blank(model):
    """The same bytes and speed, of noise."""
    return packed("w8a8")(shrunk_alike(model))


def same(model):
    """No change."""
    return model


whole = pool(prefix_caching=True)
STEPS = (
    Step(
        "no cache", "03", "every new token reads the whole text again",
        no_cache, requests=2,
    ),
    Step(
        "KV cache", "04", "old tokens are kept, so a step computes one token; but each token of "
        "each request still reads all weights from memory",
        StripCache.for_model, requests=4,
    ),
    Step(
        "static batch", "05", "requests share one reading of the weights; every seat reserves "
        "memory for the longest text, and a seat that ends early stays empty",
        config_of=pool(STRIP, policy="static"), requests=12,
    ),
    Step(
        "continuous", "05", "a seat is filled again at once; there are no more seats than before, "
        "and one user alone gains nothing",
        config_of=pool(STRIP), requests=12,
    ),
    Step(
        "paged", "06", "blocks of 16 tokens instead of the longest text: more requests at once "
        "in the same bytes; one user alone gains nothing",
        config_of=pool(),
    ),
    Step(
        FLOAT, "07", "needs prompts that begin alike, and W's share nothing, so it gains nothing "
        "here; see the comparison with shared tokens below",
        config_of=whole,
    ),
    Step(
        "int8", "08", "a step reads a quarter of the bytes: nearly all that counts for one user; "
        "the more rows, the more arithmetic counts, and reading a prompt is all arithmetic",
        config_of=whole, change=packed("int8"), compared=FLOAT,
    ),
    Step(
        "int4", "10", "half the bytes of int8, for one user; unpacking is more work, so with many "
        "rows it need not be faster than int8; quality pays",
        config_of=whole, change=packed("int4"), compared=FLOAT,
    ),
    Step(
        "w8a8", "09", "activations are rounded too, so that the products themselves are in int8: "
        "made for many rows and for prompts; one user gains what int8 gains or less",
        config_of=whole, change=packed("w8a8"), compared=FLOAT,
    ),
    Step(
        "int8 K/V", "09", "saves bytes: more blocks, nobody is sent back to wait; a step is "
        "not faster: the codes become floats first, and K/V of short texts is little to read",
        int8_alone, pool(prefix_caching=True, kv_dtype="int8"), compared=FLOAT,
    ),
    Step(
        "pruned", "13", "whole layers, heads and channels are gone, so less is read and less is "
        "computed; quality had to be trained back",
        config_of=whole, change=shrunk_tiny, blank=shrunk_alike, compared=FLOAT,
    ),
    Step(
        ALL, "14", "pruned, w8a8, int8 K/V, paged, prefix cache: what the weights no longer need "
        "becomes blocks",
        int8_alone, pool(prefix_caching=True, kv_dtype="int8"),
        change=all_of_tiny, blank=all_of_blank, compared=FLOAT,
    ),
)  # fmt: skip
