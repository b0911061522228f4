"""The scoreboard's row of everything: it keeps W's budget, and it is the last row of the story."""

import pytest

from minillm import load, scoreboard, scoreboard_together
from minillm.bench_story_rows import ALL, STEPS
from minillm.engine.llm import LLM
from minillm.workload import BUDGET


def held(model) -> int:
    return sum(sum(kinds.values()) for kinds in model.weight_bytes().values())


@pytest.fixture(scope="module")
def small():
    """tiny as the row has it."""
    return scoreboard_together.all_of_tiny(load("tiny")[0])


def test_it_is_the_last_row_of_the_story():
    assert list(scoreboard.KINDS)[-1] == ALL == STEPS[-1].name


def test_the_model_is_smaller_in_every_way(small):
    whole = load("tiny")[0]
    for size in ("num_layers", "num_heads", "mlp_width"):
        assert getattr(small.config, size) < getattr(whole.config, size)
    kept = whole.embedding.weight.nbytes  # stays in float32
    assert held(small) - kept < (held(whole) - kept) / 4  # a byte for four, and fewer of them


def test_what_the_weights_leave_becomes_int8_blocks_within_the_budget(small):
    config = scoreboard_together.everything(small)
    assert config.kv_dtype == "int8" and config.prefix_caching
    llm = LLM(small, None, config)
    block = llm.cache.nbytes / config.num_blocks
    assert BUDGET - block < held(small) + llm.cache.nbytes <= BUDGET


def test_quality_is_read_through_int8_keys_and_values(small):
    alone = scoreboard_together.int8_alone(small, 40)
    wide = scoreboard.PagedAlone(small, 40)
    assert alone.cache.nbytes < 0.5 * wide.cache.nbytes
