"""The engine: every request gets the tokens it would get alone, whatever happens around it."""

from __future__ import annotations

import random

import pytest
import zoo

from minillm.config import EngineConfig
from minillm.engine.llm import LLM
from minillm.generate import generate, steps
from minillm.sampling import SamplingParams

FAMILIES = ["llama 5:1", "mistral window", "qwen3", "gemma3"]
MODELS = {}


def model_of(name: str):
    if name not in MODELS:
        MODELS[name] = zoo.random_model(name)  # fp64: every token must be equal
    return MODELS[name]


def random_params(rng: random.Random) -> SamplingParams:
    """Greedy, sampled, filtered, penalised: each with a seed, so that it can be repeated alone."""
    return SamplingParams(
        max_tokens=rng.randint(1, 9),
        temperature=rng.choice((0.0, 0.0, 0.7, 1.3)),
        top_k=rng.choice((0, 0, 5)),
        top_p=rng.choice((1.0, 0.8)),
        repetition_penalty=rng.choice((1.0, 1.0, 1.2)),
        seed=rng.randrange(1000),
        stop_token_ids=tuple(rng.sample(range(zoo.VOCAB), rng.choice((0, 20)))),
        ignore_eos=rng.random() < 0.5,
    )


def random_load(rng: random.Random, count: int):
    """Prompts with shared beginnings, and how each is to be continued."""
    beginnings = [[rng.randrange(zoo.VOCAB) for _ in range(rng.randint(4, 17))] for _ in range(3)]
    for _ in range(count):
        head = rng.choice(beginnings) if rng.random() < 0.7 else []
        tail = [rng.randrange(zoo.VOCAB) for _ in range(rng.randint(0 if head else 1, 9))]
        yield head + tail, random_params(rng)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", FAMILIES)
def test_random_loads_write_what_each_request_writes_alone(name, seed):
    """Tiny pools and budgets, aborts and late arrivals; the pool starts full of NaN."""
    rng, model = random.Random(f"{name} {seed}"), model_of(name)
    size = rng.choice((1, 2, 4, 8))
    config = EngineConfig(
        block_size=size, num_blocks=-(-rng.randint(36, 80) // size), max_num_seqs=rng.randint(1, 6),
        max_batch_tokens=rng.choice((1, 3, 16, 64)), prefix_caching=rng.random() < 0.8,
        policy=rng.choice(("continuous", "continuous", "static")),
    )  # fmt: skip
    llm = LLM(model, None, config)
    llm.cache.kv.fill_(float("nan"))
    asked, running, finished = {}, {}, {}
    for prompt, params in random_load(rng, 14):
        request_id = llm.add(prompt, params)
        asked[request_id] = (prompt, params)
        running[request_id] = llm.requests[request_id]
        for _ in range(rng.choice((0, 0, 1, 4))):
            llm.step()
            llm.check()
        if rng.random() < 0.15:
            victim = rng.choice(sorted(asked))
            llm.abort(victim)
            llm.abort(victim)
            llm.check()
    while llm.unfinished:
        llm.step()
        llm.check()
    llm.check()
    assert not llm.requests and llm.blocks.num_free == config.num_blocks
    for request_id, (prompt, params) in asked.items():
        request = running[request_id]
        alone = generate(model, prompt, params)
        finished[request.finish_reason] = finished.get(request.finish_reason, 0) + 1
        if request.finish_reason == "abort":
            assert request.output == alone[: len(request.output)]
        else:
            assert request.output == alone, (request_id, request.preemptions)
    assert sum(finished.values()) == 14


def test_preemption_happens_and_changes_nothing():
    model = model_of("qwen3")
    prompts = [[i, i + 1, i + 2] for i in range(1, 7)]
    params = SamplingParams(max_tokens=12, ignore_eos=True)
    small = LLM(model, None, EngineConfig(block_size=2, num_blocks=10, prefix_caching=False))
    large = LLM(model, None, EngineConfig(block_size=2, num_blocks=100))
    got, want = small.generate(prompts, params), large.generate(prompts, params)
    assert small.metrics.preemptions > 0 and large.metrics.preemptions == 0
    assert [c.tokens for c in got] == [c.tokens for c in want]
    assert max(c.metrics.preemptions for c in got) > 0


def test_samples_of_one_prompt_equal_separate_requests_and_share_its_blocks():
    model = model_of("llama 5:1")
    prompt = list(range(1, 11))
    params = SamplingParams(max_tokens=6, temperature=1.0, seed=5, n=4, ignore_eos=True)
    llm = LLM(model, None, EngineConfig(block_size=4, num_blocks=64))
    answers = llm.generate([prompt], params)
    for nth, answer in enumerate(answers):
        alone = SamplingParams(max_tokens=6, temperature=1.0, seed=5 + nth, ignore_eos=True)
        assert answer.tokens == generate(model, prompt, alone)
    assert len({tuple(a.tokens) for a in answers}) > 1
    assert llm.metrics.computed == 10 + 3 + 4 * 5  # the prompt once, one token a sample, the rest
    assert llm.blocks.num_free == 64


def test_a_prefix_hit_computes_only_what_is_new():
    model, llm = model_of("qwen3"), None
    llm = LLM(model, None, EngineConfig(block_size=4, num_blocks=64))
    params = SamplingParams(max_tokens=2, ignore_eos=True)
    first, second = list(range(20)), [*range(16), 40, 41]
    llm.generate([first], params)
    before = llm.metrics.computed
    (answer,) = llm.generate([second], params)
    assert answer.metrics.num_cached == 16 and llm.metrics.computed - before == 2 + 1
    assert answer.tokens == generate(model, second, params)
    (again,) = llm.generate([first], params)  # a full hit at a multiple of the block size
    assert again.metrics.num_cached == 16 and again.tokens == generate(model, first, params)


def test_requests_that_can_never_fit_are_refused_and_block_nobody():
    llm = LLM(model_of("qwen3"), None, EngineConfig(block_size=4, num_blocks=4))
    with pytest.raises(ValueError, match="num_blocks at least 6"):
        llm.add(list(range(20)), SamplingParams(max_tokens=4))
    with pytest.raises(ValueError, match="prompt is empty"):
        llm.add([], SamplingParams())
    (answer,) = llm.generate([[1, 2, 3]], SamplingParams(max_tokens=3, ignore_eos=True))
    assert len(answer.tokens) == 3
    short = LLM(model_of("qwen3"), None, EngineConfig(num_blocks=64, max_model_len=8))
    with pytest.raises(ValueError, match="lower max_tokens to 4"):
        short.add([1, 2, 3, 4, 5], SamplingParams(max_tokens=5))


def test_logprobs_equal_those_of_the_simplest_loop_also_with_a_prefix_hit():
    model = model_of("gemma3")
    prompt = list(range(33))
    params = SamplingParams(max_tokens=4, logprobs=3, prompt_logprobs=2, ignore_eos=True)
    want = list(steps(model, prompt, params))
    config = EngineConfig(block_size=32, num_blocks=8, max_batch_tokens=7)
    llm = LLM(model, None, config)
    llm.generate([prompt], SamplingParams(max_tokens=1))
    for _ in range(2):
        (got,) = llm.generate([prompt], params)
        assert got.tokens == [s.token for s in want]
        for a, b in zip(got.logprobs, want, strict=True):
            assert a == pytest.approx(b.logprobs, abs=1e-9)
        assert got.prompt_logprobs[0] is None
        for a, b in zip(got.prompt_logprobs[1:], want[0].prompt_logprobs[1:], strict=True):
            assert a == pytest.approx(b, abs=1e-9)


def test_an_interrupted_generate_leaves_the_engine_usable(monkeypatch):
    llm = LLM(model_of("qwen3"), None, EngineConfig(block_size=4, num_blocks=32))
    run, calls = llm.runner.run, []

    def interrupted(plan):
        calls.append(plan)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(plan)

    monkeypatch.setattr(llm.runner, "run", interrupted)
    params = SamplingParams(max_tokens=6, ignore_eos=True)
    with pytest.raises(KeyboardInterrupt):
        llm.generate([[1, 2, 3], [4, 5]], params)
    llm.check()
    assert not llm.requests and llm.blocks.num_free == 32
    (answer,) = llm.generate([[1, 2, 3]], params)
    assert answer.tokens == generate(llm.model, [1, 2, 3], params)


def test_static_batches_refill_only_when_all_have_ended():
    params = [SamplingParams(max_tokens=n, ignore_eos=True) for n in (1, 9, 2, 3)]
    counts = {}
    for policy in ("static", "continuous"):
        config = EngineConfig(num_blocks=64, max_num_seqs=2, policy=policy)
        llm = LLM(model_of("qwen3"), None, config)
        llm.generate([[1], [2], [3], [4]], params)
        counts[policy] = llm.metrics.steps
    assert counts == {"static": 9 + 3, "continuous": 9}
