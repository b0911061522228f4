"""The scoreboard's row of chapter 14: everything at once, as in the last row of the story.

The story's rows import the scoreboard, so they are looked up when they are needed.
"""

from __future__ import annotations

from minillm.config import EngineConfig
from minillm.workload import BUDGET


def all_of_tiny(model):
    """Shrunk and trained again, then W8A8."""
    from minillm.bench_story_rows import all_of_tiny

    return all_of_tiny(model)


def all_of_blank(model):
    """A blank model of the same bytes and speed."""
    from minillm.bench_story_rows import all_of_blank

    return all_of_blank(model)


def int8_alone(model, max_len: int):
    """K and V in int8, for quality."""
    from minillm.bench_story_rows import int8_alone

    return int8_alone(model, max_len)


def everything(model) -> EngineConfig:
    """int8 K/V in blocks, in all bytes that the budget leaves; a prefix cache."""
    from minillm.bench_story_rows import pool

    return pool(kv_dtype="int8", prefix_caching=True)(model, BUDGET)
