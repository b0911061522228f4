"""Faults that real engines had, each with the smallest input that shows it, through our engine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
import zoo

import minillm
from minillm.cache.blocks import BlockManager
from minillm.cache.paged import PagedCache, kv_store, slots_of
from minillm.config import EngineConfig
from minillm.engine.llm import LLM
from minillm.engine.request import Request
from minillm.engine.runner import Runner
from minillm.engine.scheduler import Plan, Scheduler
from minillm.generate import generate, steps
from minillm.hf_config import from_hf
from minillm.model import Transformer
from minillm.sampling import SamplingParams

MODEL = zoo.random_model("qwen3")
LOGPROBS = 20


def exactly(count: int, **more) -> SamplingParams:
    return SamplingParams(max_tokens=count, ignore_eos=True, **more)


def engine(model=MODEL, **options) -> LLM:
    """Blocks of 4 tokens in a pool of NaN."""
    llm = LLM(model, None, EngineConfig(**{"block_size": 4, "num_blocks": 64} | options))
    llm.cache.kv.fill_(float("nan"))
    return llm


def finish(llm) -> dict:
    """Step until nothing is left -> {id: Completion}."""
    done = {}
    while llm.unfinished:
        done |= {e.request.id: e.completion for e in llm.step() if e.completion}
        llm.check()
    assert llm.blocks.num_free == llm.blocks.num_blocks
    return done


def same_as_alone(answer, prompt, params, model=MODEL) -> None:
    """Tokens, and the logits of each through the log-probabilities of the likeliest ones."""
    want = list(steps(model, prompt, params))
    assert answer.tokens == [step.token for step in want]
    for got, step in zip(answer.logprobs, want, strict=True):
        assert got == pytest.approx(step.logprobs, abs=1e-9)


SCORED = exactly(5, logprobs=LOGPROBS)


@pytest.mark.parametrize("length", [4, 8, 12])
def test_full_prefix_hit_leaves_a_token_to_compute(length):
    llm, prompt = engine(), list(range(1, length + 1))
    for hits in (0, length - 4, length - 4):
        (answer,) = llm.generate([prompt], SCORED)
        assert answer.metrics.num_cached == hits
        same_as_alone(answer, prompt, SCORED)


def test_preempted_request_is_no_decoding_one_and_keeps_its_output():
    """Two requests, and a pool for one and a half."""
    prompts, params = [[1, 2, 3, 4, 5], [6, 7, 8, 9]], exactly(11, logprobs=LOGPROBS)
    llm = engine(num_blocks=6, prefix_caching=False)
    for answer, prompt in zip(llm.generate(prompts, params), prompts):
        same_as_alone(answer, prompt, params)
    assert llm.metrics.preemptions > 0


def test_evicted_block_is_not_found_by_its_hash():
    """Fill A, free A, fill B over it, ask A again."""
    llm, a, b = engine(num_blocks=4), [1] * 9 + [2], [3] * 9 + [4]
    for prompt in (a, b, b, a):
        (answer,) = llm.generate([prompt], SCORED)
        same_as_alone(answer, prompt, SCORED)


def test_block_with_another_block_before_it_is_not_shared():
    """Two prompts that share their second block, not their first."""
    llm, tail = engine(), [7, 7, 7, 7, 9]
    for head in ([1, 1, 1, 1], [2, 2, 2, 2]):
        (answer,) = llm.generate([head + tail], SCORED)
        assert answer.metrics.num_cached == 0
        same_as_alone(answer, head + tail, SCORED)


def test_block_is_not_sealed_before_its_step_ran():
    """The same prompt twice in one step: the second cannot read what is not written yet."""
    llm, prompt = engine(), [1, 2, 3, 4, 5, 6, 7, 8, 9]
    for answer in llm.generate([prompt, prompt], SCORED):
        assert answer.metrics.num_cached == 0
        same_as_alone(answer, prompt, SCORED)


def test_double_free_is_refused_and_the_last_slot_is_freed_once():
    blocks = BlockManager(4, 4)
    blocks.match("a", [1, 2, 3])
    blocks.grow("a", 0, 3)
    blocks.release("a")
    with pytest.raises(AssertionError, match="released twice"):
        blocks.release("a")
    assert sorted(blocks.free) == [0, 1, 2, 3]
    llm = engine(num_blocks=4)  # ends by its length in the very step whose token fills a block
    ended = llm.add([1, 2, 3], exactly(2))
    assert [e.finish_reason for e in llm.step() + llm.step()] == [None, "length"]
    assert llm.abort(ended) is None
    llm.check()
    assert sorted(llm.blocks.free) == [0, 1, 2, 3]


def test_request_that_can_never_fit_is_refused_and_blocks_nobody():
    llm = engine(num_blocks=3)
    with pytest.raises(ValueError, match="num_blocks at least 4"):
        llm.add(list(range(13)), exactly(1))
    (answer,) = llm.generate([[1, 2, 3]], SCORED)
    same_as_alone(answer, [1, 2, 3], SCORED)


def test_request_that_fills_the_pool_to_the_last_slot_is_served():
    prompt, params = list(range(8)), exactly(5, logprobs=LOGPROBS)  # the last token needs no slot
    same_as_alone(engine(num_blocks=3).generate([prompt], params)[0], prompt, params)


@pytest.mark.parametrize("empty", ["", []])
def test_empty_prompt_does_not_kill_the_engine(empty):
    model, tokenizer = minillm.load("tiny", dtype="fp64", device="cpu")
    llm = LLM(model, tokenizer, EngineConfig(num_blocks=16))
    other = llm.add([5, 6], exactly(3))
    if tokenizer.encode("") and isinstance(empty, str):  # it begins every text with a token
        assert len(llm.generate([empty], exactly(2))[0].tokens) == 2
    else:
        with pytest.raises(ValueError, match="prompt is empty"):
            llm.add(empty, exactly(2))
    assert finish(llm)[other].tokens == generate(model, [5, 6], exactly(3))


@pytest.mark.parametrize("steps_before", range(8))
def test_abort_at_any_time_leaks_nothing_and_disturbs_nobody(steps_before):
    """Waiting, in the second chunk of its prompt, decoding, ended; each time twice."""
    llm = engine(max_num_seqs=2, max_batch_tokens=4)
    first = llm.add([9, 8, 7], exactly(9))
    victim, late = llm.add(list(range(10)), exactly(2)), llm.add([3], exactly(3))
    done = {}
    for _ in range(steps_before):
        done |= {e.request.id: e.completion for e in llm.step() if e.completion}
    for _ in range(2):
        llm.abort(victim)
        llm.check()
    done |= finish(llm)
    assert done[first].tokens == generate(MODEL, [9, 8, 7], exactly(9))
    assert done[late].tokens == generate(MODEL, [3], exactly(3))


@pytest.mark.parametrize("kv_dtype", [None, "int8"])
def test_padding_of_a_batch_writes_into_no_real_slot(kv_dtype):
    """A batch of 3 padded to 4 with the slot -1, which would wrap to the last one."""
    cache = PagedCache(MODEL.config, 2, 4, dtype=torch.float64, kv_dtype=kv_dtype)
    before = cache.kv[0].clone()
    x = torch.randn(4, MODEL.config.num_kv_heads, MODEL.config.head_size, dtype=torch.float64)
    kv_store(x, x, torch.tensor([1, 5, 0, -1]), *cache.layer(0))
    untouched = [2, 3, 4, 6, 7]
    assert torch.equal(cache.kv[0, :, untouched], before[:, untouched])
    assert bool((cache.kv[0, :, [0, 1, 5]] != 0).any(-1).all())


@pytest.mark.parametrize("length", [1, 3, 5, 9])
def test_nan_behind_the_end_of_a_page_is_not_read(length):
    prompt = list(range(length))
    same_as_alone(engine().generate([prompt], SCORED)[0], prompt, SCORED)


@pytest.mark.parametrize("name", ["mistral window", "gemma3", "llama 5:1"])
@pytest.mark.parametrize("budget", [3, 5, 64])
def test_mask_is_aligned_to_the_last_key_in_chunks_and_behind_a_cached_prefix(name, budget):
    model = zoo.random_model(name)
    llm, prompt = engine(model, max_batch_tokens=budget), list(range(1, 15))
    for _ in range(2):  # the second finds 12 tokens and brings 2 queries
        (answer,) = llm.generate([prompt], SCORED)
        same_as_alone(answer, prompt, SCORED, model)
    assert answer.metrics.num_cached == 12


def test_prompts_of_different_length_do_not_shift_each_other():
    prompts = [[1, 2], [3, 4, 5, 6, 7, 8, 9, 10, 11], [12]]
    for answer, prompt in zip(engine().generate(prompts, SCORED), prompts):
        same_as_alone(answer, prompt, SCORED)


def test_decode_logits_are_those_of_the_whole_sequence():
    """Positions off by one would show: every token's scores against one call over all tokens."""
    prompt = [1, 2, 3, 4, 5]
    (answer,) = engine().generate([prompt], SCORED)
    text = torch.tensor(prompt + answer.tokens[:-1])
    with torch.inference_mode():
        scores_TV = MODEL(text).log_softmax(-1)[len(prompt) - 1 :]
    for row_V, got in zip(scores_TV, answer.logprobs, strict=True):
        assert got == pytest.approx({t: float(row_V[t]) for t in got}, abs=1e-9)


def test_slots_of_a_pool_beyond_32_bits():
    """Block ids near the end of a huge pool; nothing is allocated."""
    block, size = 2**28 + 3, 16
    table = torch.tensor([5, block])
    want = [*range(80, 96), *range(block * size, block * size + 3)]
    assert slots_of(table, 19, size).tolist() == want
    blocks = SimpleNamespace(table=lambda request: [5, block])
    cache = SimpleNamespace(block_size=size, kv=torch.empty(0))
    request = Request(0, list(range(19)), 19, 1, frozenset())
    _, positions_T, batch = Runner(None, cache, blocks)._tensors(Plan([(request, 19)]))
    assert batch.slots_T.tolist() == want and positions_T.tolist() == list(range(19))
    assert batch.slots_T.dtype == batch.block_table_SM.dtype == torch.int64


@pytest.mark.parametrize("queries, kv", [(28, 4), (5, 1), (12, 2), (24, 4), (6, 2)])
def test_groups_of_heads_that_are_no_power_of_two(queries, kv):
    data = zoo.CASES["llama 5:1"] | zoo.heads(queries, kv, 6, 24)
    model = zoo.fill_randomly(Transformer(from_hf(dict(data)))).to(torch.float64)
    prompts = [[1, 2, 3, 4, 5, 6], [7]]
    for answer, prompt in zip(engine(model).generate(prompts, SCORED), prompts):
        same_as_alone(answer, prompt, SCORED, model)


def test_plan_keeps_to_its_budget_of_tokens():
    scheduler = Scheduler(EngineConfig(max_batch_tokens=7, max_num_seqs=4), BlockManager(64, 4), 64)
    for number, length in enumerate((3, 12, 1, 9)):
        scheduler.add(Request(number, [1] * length, length, 4, frozenset()))
    while scheduler.running or scheduler.waiting:
        plan = scheduler.schedule()
        assert 0 < plan.num_tokens <= 7
        scheduler.commit(plan, {request.id: 2 for request, _ in plan.items})


def test_greedy_row_in_a_sampled_batch_does_not_turn_nan():
    """Temperature 0 and 1 together, logits with -inf, and a top_k larger than the vocabulary."""
    model = zoo.random_model("qwen3")
    never = torch.arange(0, zoo.VOCAB, 2)
    model.head.register_forward_hook(lambda m, i, out: out.index_fill(-1, never, -torch.inf))
    many = [
        exactly(6), exactly(6, temperature=1.0, seed=3),
        exactly(6, temperature=1.0, top_k=9_999_999, seed=4),
        exactly(6, temperature=0.0, repetition_penalty=1.3),
    ]  # fmt: skip
    prompts = [[1, 2, 3], [4, 5], [6], [1, 2, 3]]
    for answer, prompt, params in zip(engine(model).generate(prompts, many), prompts, many):
        assert answer.tokens == generate(model, prompt, params)
        assert all(token % 2 for token in answer.tokens)


def test_seed_is_not_disturbed_by_an_unseeded_neighbour():
    seeded, free = exactly(6, temperature=1.0, seed=8), exactly(6, temperature=1.0)
    want = generate(MODEL, [1, 2], seeded)
    for order in (1, -1, 1, -1):
        pairs = [([1, 2], seeded), ([1, 2], free)][::order]
        answers = engine().generate([p for p, _ in pairs], [s for _, s in pairs])
        assert answers[::order][0].tokens == want


def test_prompt_logprobs_are_complete_behind_a_prefix_hit_and_for_every_sample():
    """33 tokens twice, blocks of 32; then three samples of it."""
    prompt, params = list(range(33)), exactly(2, prompt_logprobs=1)
    want = next(iter(steps(MODEL, prompt, params))).prompt_logprobs
    llm = engine(block_size=32, num_blocks=16)
    answers = [*llm.generate([prompt], params), *llm.generate([prompt], params)]
    answers += llm.generate([prompt], exactly(2, prompt_logprobs=1, n=3, temperature=1.0, seed=1))
    for answer in answers:
        assert answer.prompt_logprobs[0] is None
        for got, row in zip(answer.prompt_logprobs[1:], want[1:], strict=True):
            assert got == pytest.approx(row, abs=1e-9)
