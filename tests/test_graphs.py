"""Recorded decode steps: a padded, static batch gives the plain one's logits and harms no page."""

from __future__ import annotations

import pytest
import torch
import zoo

from minillm.cache.paged import Batch, PagedCache, slots_of
from minillm.config import ConfigError, EngineConfig
from minillm.engine import graphs, runner
from minillm.engine.llm import LLM
from minillm.sampling import SamplingParams

TABLES = torch.tensor([[3, 7], [9, 0], [5, 6]])
LENGTHS = torch.tensor([6, 4, 7])  # after the step; blocks of 4


def eager(step):
    """What record_cuda does, without a GPU: the same output tensor, filled anew each time."""
    out = step().clone()

    def replay():
        out.copy_(step())
        return out

    return replay


def step_of_three():
    slots = torch.stack([slots_of(t, int(n), 4)[-1] for t, n in zip(TABLES, LENGTHS)])
    batch = Batch(slots, TABLES, LENGTHS, (1, 1, 1), 3)
    return torch.tensor([5, 8, 2]), LENGTHS - 1, batch


@pytest.mark.parametrize("kv_dtype", [None, "int8"])
@pytest.mark.parametrize("name", ["llama 5:1", "gemma3"])
def test_three_requests_padded_to_four_rows(name, kv_dtype):
    model = zoo.random_model(name)
    pools = [PagedCache(model.config, 13, 4, torch.float64, kv_dtype) for _ in (0, 1)]
    torch.manual_seed(0)
    pools[0].kv.copy_(torch.randn(pools[0].kv.shape) * 3)
    pools[1].kv.copy_(pools[0].kv)
    tokens, positions, batch = step_of_three()
    recorded = graphs.DecodeGraphs(model, pools[1], 8, 5, eager)
    with torch.inference_mode():
        want = model(tokens, positions, pools[0].at(batch))
        for _ in range(2):
            got = recorded.logits(tokens, positions, batch)
            assert got.shape == want.shape and list(recorded.replays) == [4]
            assert float((got - want).abs().max() / want.abs().max()) < 1e-12
        one = Batch(batch.slots_T[1:2], TABLES[1:2], LENGTHS[1:2], (1,), 1)
        again = recorded.logits(tokens[1:2], positions[1:2], one)  # fewer rows, old ones left over
    assert list(recorded.replays) == [4, 1]
    assert float((again[0] - want[1]).abs().max() / want.abs().max()) < 1e-12
    spare = 12 * 4  # the last page, which no block manager gives away
    for mine, plain in zip(parts(pools[1]), parts(pools[0])):
        others = [i for i in range(spare) if i not in batch.slots_T.tolist()]
        assert torch.equal(mine[:, :, others], plain[:, :, others])
        written = (mine - plain)[:, :, batch.slots_T].abs().max()
        assert float(written) < (1e-12 if mine.is_floating_point() else 1), "the three new tokens"
        assert not torch.equal(mine[:, :, spare:], plain[:, :, spare:])


def parts(cache):
    return (cache.kv, cache.scale) if cache.int8 else (cache.kv,)


def test_a_static_batch_never_moves_and_forgets_the_batch_before():
    static = graphs.StaticBatch(4, 5, 12, 4, "cpu")
    tokens, positions, batch = step_of_three()
    addresses = [x.data_ptr() for x in (static.slots_S, static.block_table_SM, static.len_S)]
    static.fill(tokens, positions, batch)
    static.fill(
        tokens[:1], positions[:1], Batch(batch.slots_T[:1], TABLES[:1], LENGTHS[:1], (1,), 1)
    )
    kept, places, rows = static.rows(4)
    assert addresses == [x.data_ptr() for x in (rows.slots_T, rows.block_table_SM, rows.len_S)]
    assert kept.tolist() == [5, 0, 0, 0] and places.tolist() == [5, 0, 0, 0]
    assert rows.slots_T.tolist()[1:] == [49, 50, 51] and rows.len_S.tolist() == [6, 1, 1, 1]
    assert (rows.block_table_SM[1:] == 12).all() and rows.counts == (1, 1, 1, 1)
    with pytest.raises(AssertionError):
        static.fill(tokens, positions, Batch(batch.slots_T, TABLES, LENGTHS, (1, 1, 2), 2))


def engine(model, cuda_graphs: bool) -> LLM:
    return LLM(model, None, EngineConfig(
        block_size=4, num_blocks=16, max_num_seqs=5, max_batch_tokens=9, cuda_graphs=cuda_graphs
    ))  # fmt: skip


def test_an_engine_with_recordings_writes_the_same(monkeypatch):
    """Preemption, chunked prompts, mixed sampling: decode-only steps go through the recording."""
    model = zoo.random_model("qwen3")
    prompts = [zoo.random_tokens(n, seed=n).tolist() for n in (3, 14, 5, 9, 2, 7, 4)]
    params = [SamplingParams(max_tokens=9, temperature=i % 2, seed=i, ignore_eos=True)
              for i in range(len(prompts))]  # fmt: skip
    want = [c.tokens for c in engine(model, False).generate(prompts, params)]
    made = []

    def fake(model, cache, config):
        if config.cuda_graphs:
            made.append(graphs.DecodeGraphs(model, cache, config.max_num_seqs, 16, eager))
            return made[-1]

    monkeypatch.setattr(runner, "decode_graphs", fake)
    llm = engine(model, True)
    assert llm.cache.num_blocks == 17 and llm.blocks.num_blocks == 16
    assert [c.tokens for c in llm.generate(prompts, params)] == want
    assert len(made[0].replays) > 1
    llm.check()


def test_without_a_gpu_the_flag_is_refused_with_advice():
    with pytest.raises(ConfigError, match="needs a GPU.*leave it False"):
        engine(zoo.random_model("qwen3"), True)


def test_rows_are_powers_of_two_up_to_the_seats():
    model = zoo.random_model("qwen3")
    cache = PagedCache(model.config, 13, 4, torch.float64)
    recorded = graphs.DecodeGraphs(model, cache, 3, 5, eager)
    with torch.inference_mode():
        recorded.logits(*step_of_three())
    assert list(recorded.replays) == [3], "seats that are no power of two: all of them"
