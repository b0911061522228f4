"""Serving: text, stop strings, arrivals on a virtual clock, metrics, aborts, the planner's cost."""

from __future__ import annotations

import itertools
import random

import pytest
import zoo

import minillm
from minillm.cache.blocks import BlockManager
from minillm.clock import PAPER_GPU, VirtualClock, batch_cost, matrices, step_seconds
from minillm.config import ConfigError, EngineConfig
from minillm.engine.llm import LLM
from minillm.engine.metrics import percentile
from minillm.engine.request import Request
from minillm.engine.scheduler import Plan, Scheduler
from minillm.generate import generate, stream_text
from minillm.sampling import SamplingParams


@pytest.fixture(scope="module")
def tiny():
    return minillm.load("tiny", dtype="fp64", device="cpu")


def small(**options) -> LLM:
    settings = {"block_size": 4, "num_blocks": 64} | options
    return LLM(zoo.random_model("qwen3"), None, EngineConfig(**settings))


def exactly(count: int, **more) -> SamplingParams:
    return SamplingParams(max_tokens=count, ignore_eos=True, **more)


PROMPTS = ["Once upon a time", "add: 347+589=", "옛날 옛적에", "copy: k d o ="]
STOPS = [(), ("e", "했"), (". ", "was a"), ("5289",)]


@pytest.mark.parametrize("stop", STOPS)
def test_text_and_stop_strings_as_the_simplest_stream_writes_them(tiny, stop):
    model, tokenizer = tiny
    params = SamplingParams(max_tokens=30, temperature=0.8, seed=4, stop=stop)
    llm = LLM(model, tokenizer, EngineConfig(num_blocks=32, max_batch_tokens=9))
    want = ["".join(stream_text(model, tokenizer, p, params)) for p in PROMPTS]
    answers = llm.generate(PROMPTS, params)
    assert [a.text for a in answers] == want
    assert ["".join(llm.stream(p, params)) for p in PROMPTS] == want
    assert not llm.unfinished and llm.blocks.num_free == 32
    for answer in answers:
        assert not any(s in answer.text for s in stop)


def test_a_stop_string_ends_the_request_at_once(tiny):
    model, tokenizer = tiny
    llm = LLM(model, tokenizer, EngineConfig(num_blocks=32))
    free = llm.generate(["Once upon a time"], exactly(20))[0].text
    (answer,) = llm.generate(["Once upon a time"], exactly(20, stop=(free[4:7],)))
    assert answer.finish_reason == "stop" and answer.text == free[: free.index(free[4:7])]
    assert len(answer.tokens) < 20


def test_closing_a_stream_aborts_its_request(tiny):
    llm = LLM(*tiny, EngineConfig(num_blocks=32))
    stream = llm.stream("Once upon a time", exactly(40))
    next(stream)
    assert llm.unfinished == 1
    stream.close()
    llm.check()
    assert llm.unfinished == 0 and llm.blocks.num_free == 32


def test_prompts_given_wrongly_are_refused_with_advice(tiny):
    llm = LLM(*tiny, EngineConfig(num_blocks=8))
    with pytest.raises(TypeError, match="list of prompts"):
        llm.generate("Once", exactly(2))
    with pytest.raises(ValueError, match="2 prompts, 1 SamplingParams"):
        llm.generate(["a", "b"], [exactly(2)])
    with pytest.raises(ValueError, match="not in the vocabulary"):
        llm.generate([[1], [10**6]], exactly(2))
    assert llm.unfinished == 0 and llm.blocks.num_free == 8, "the first of the two was taken back"


def test_stop_strings_without_a_tokenizer_are_refused():
    with pytest.raises(ValueError, match="need a tokenizer"):
        small().add([1, 2], exactly(3, stop=("x",)))


def test_the_virtual_clock_pays_for_every_step_and_jumps_to_arrivals():
    clock = VirtualClock(PAPER_GPU)
    llm = small(clock=clock, max_num_seqs=1)
    first, second = llm.add([1, 2, 3], exactly(2), arrival=5.0), llm.add([4], exactly(1), 5.0)
    times = dict(llm.times)
    while llm.unfinished:
        llm.step()
    cost = lambda new, context: step_seconds(
        batch_cost(llm.model.config, [(new, context)], 8, 8), PAPER_GPU
    )
    prompt, token, other = cost(3, 3), cost(1, 4), cost(1, 1)
    assert times[first].queue == 0 and times[first].ttft == pytest.approx(prompt, rel=1e-9)
    assert times[first].tpot == pytest.approx(token, rel=1e-9)
    assert times[first].gaps == [pytest.approx(token, rel=1e-9)]
    assert times[second].queue == pytest.approx(prompt + token, rel=1e-9)
    assert times[second].finished == clock.now == pytest.approx(5 + prompt + token + other)
    assert times[second].tpot is None


def test_a_request_that_comes_later_does_not_run_earlier():
    clock = VirtualClock(PAPER_GPU)
    llm = small(clock=clock)
    llm.add([1, 2], exactly(3), arrival=0.0)
    late = llm.add([3, 4], exactly(1), arrival=1000.0)
    assert [e.request.id for e in llm.step()] == [0]
    while llm.unfinished:
        llm.step()
    assert late not in llm.requests and clock.now > 1000.0


def test_waste_counts_the_empty_places_of_running_requests():
    llm = small(block_size=8)
    llm.generate([[1, 2, 3]], exactly(3))
    held = [(3, 8), (4, 8)]  # after the steps that left it running: tokens in 8 slots
    assert llm.metrics.waste == pytest.approx(1 - sum(t for t, _ in held) / 16)
    assert llm.metrics.steps == 3 and llm.metrics.written == 3 and llm.metrics.computed == 5


@pytest.mark.parametrize("when", ["waiting", "in the second chunk", "writing", "ended", "twice"])
def test_abort_wherever_it_is_leaves_no_block(when):
    llm = small(max_num_seqs=1 if when == "waiting" else 4, max_batch_tokens=4)
    other = llm.add([9, 8, 7], exactly(8))
    kept = llm.requests[other]
    llm.step()
    victim = llm.add(list(range(12)), exactly(3))
    request = llm.requests[victim]
    for _ in range({"waiting": 1, "in the second chunk": 2, "ended": 12}.get(when, 5)):
        llm.step()
    llm.abort(victim)
    if when == "twice":
        llm.abort(victim)
    llm.check()
    assert request.finish_reason == ("length" if when == "ended" else "abort")
    while llm.unfinished:
        llm.step()
        llm.check()
    assert kept.output == generate(llm.model, [9, 8, 7], exactly(8))
    assert llm.blocks.num_free == 64


def test_a_seeded_request_is_not_disturbed_by_its_neighbours():
    prompt, params = [5, 6, 7], exactly(8, temperature=1.0, seed=11)
    texts = set()
    for neighbours in range(4):
        llm = small()
        for i in range(neighbours):
            llm.add([i + 1], exactly(6, temperature=1.3))
        request = llm.requests[llm.add(prompt, params)]
        while llm.unfinished:
            llm.step()
        texts.add(tuple(request.output))
    assert texts == {tuple(generate(zoo.random_model("qwen3"), prompt, params))}


def test_samples_that_find_no_seat_wait_and_write_the_same():
    params = exactly(5, temperature=1.0, seed=2, n=5)
    many, few = small(), small(max_num_seqs=2)
    want = [a.tokens for a in many.generate([[1, 2, 3, 4, 5]], params)]
    got = few.generate([[1, 2, 3, 4, 5]], params)
    assert [a.tokens for a in got] == want and few.blocks.num_free == 64


def test_the_first_of_several_samples_can_be_aborted():
    llm = small()
    first = llm.add([1, 2, 3], exactly(4, temperature=1.0, seed=2, n=3))
    rest = [llm.requests[first + 1], llm.requests[first + 2]]
    llm.step()
    llm.abort(first)
    while llm.unfinished:
        llm.step()
        llm.check()
    alone = lambda seed: generate(llm.model, [1, 2, 3], exactly(4, temperature=1.0, seed=seed))
    assert [r.output for r in rest] == [alone(3), alone(4)]
    for when in (0, 1):  # before it ran at all, and after its prompt
        llm = small()
        first = llm.add([1, 2, 3], exactly(4, n=2))
        other = llm.requests[first + 1]
        for _ in range(when):
            llm.step()
        llm.abort(first)
        while llm.unfinished:
            llm.step()
        assert len(other.output) == 4 and llm.blocks.num_free == 64


def test_a_step_does_not_look_at_those_who_wait():
    """The number of operations of a step, not its time: bytecode lines run by schedule()."""
    import sys

    def lines(waiting: int) -> int:
        blocks = BlockManager(64, 4)
        scheduler = Scheduler(EngineConfig(max_num_seqs=2), blocks, 100)
        for i in range(2 + waiting):
            scheduler.add(Request(i, [1, 2, 3], 3, 5, frozenset()))
        plan = scheduler.schedule()
        scheduler.commit(plan, {r.id: 7 for r, _ in plan.items})
        count = 0

        def trace(frame, event, arg):
            nonlocal count
            count += event == "line"
            return trace

        sys.settrace(trace)
        try:
            scheduler.schedule()
        finally:
            sys.settrace(None)
        return count

    assert lines(10) == lines(5000)


@pytest.mark.parametrize("wrong", [
    {"block_size": 0}, {"num_blocks": 0}, {"max_num_seqs": True}, {"policy": "lifo"},
    {"memory_fraction": 0}, {"kv_dtype": "int4"}, {"max_batch_tokens": 1.5},
])  # fmt: skip
def test_impossible_settings_are_refused_by_name(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        EngineConfig(**wrong)


def test_the_pool_follows_free_memory(monkeypatch):
    from minillm.engine import pool

    model = zoo.random_model("qwen3")
    config = EngineConfig(block_size=4, max_num_seqs=2, max_model_len=8, memory_fraction=0.5)
    one = pool.block_bytes(model, 4, model.embedding.weight.dtype)
    assert one == 4 * model.config.kv_bytes_per_token(8)
    assert LLM(model, None, config).cache.nbytes == 4 * one, "two seats of two blocks, no more"
    monkeypatch.setattr(pool, "free_memory", lambda device: 6 * one)
    assert pool.num_blocks_for(model, config, model.embedding.weight.dtype) == 3
    monkeypatch.setattr(pool, "free_memory", lambda device: one)
    with pytest.raises(ConfigError, match="not one block"):
        LLM(model, None, config)


def test_percentiles_by_hand():
    assert percentile([4, 1, 3, 2], 0.5) == 2.5 and percentile([7], 0.95) == 7
    assert percentile(range(101), 0.95) == 95
    for values, share in (([], 0.5), ([1], 1.5)):
        with pytest.raises(ValueError):
            percentile(values, share)


def test_a_plan_copies_only_where_a_request_that_runs_is_about_to_write():
    """Integers only: samples that share a block, long prompts in pieces, a pool that overflows."""
    rng, lost = random.Random(3), 0
    for _ in range(150):
        blocks = BlockManager(rng.randint(8, 14), 4)
        scheduler = Scheduler(
            EngineConfig(max_num_seqs=6, max_batch_tokens=rng.randint(9, 24)), blocks, 100
        )
        ids = itertools.count()
        for size, n in [(rng.choice((3, 5, 7)), 3), (rng.randint(12, 24), 1), (6, 2), (20, 1)]:
            tokens = [rng.randrange(9) for _ in range(size)]
            made = [Request(next(ids), list(tokens), size, 6, frozenset()) for _ in range(n)]
            made[0].siblings = made[1:]
            scheduler.add(made[0])
        while scheduler.running or scheduler.waiting:
            plan = scheduler.schedule()
            scheduler.check()
            targets = [to for _, to in plan.copies]
            next_written = {blocks.table(r.id)[r.num_computed // 4] for r, _ in plan.items}
            assert set(targets) <= next_written and len(set(targets)) == len(targets)
            lost += len(plan.preempted)
            scheduler.commit(plan, {r.id: rng.randrange(9) for r, _ in plan.items})
            scheduler.check()
    assert lost > 100


def test_the_virtual_clock_pays_for_the_bytes_that_are_really_held():
    """Packed weights and int8 K/V with their scales cost what they take; a tied head is read."""
    from minillm.compress.quant import quantize

    dense, tokenizer = minillm.load("tiny")
    config = dense.config
    weights = sum(m.parameters for m in matrices(config))
    int4, int8 = quantize(dense, "int4"), quantize(dense, "int8", head="int4")
    for model, kv_dtype in ((dense, "auto"), (int4, "auto"), (int8, "int8")):
        llm = LLM(model, tokenizer, EngineConfig(num_blocks=8, kv_dtype=kv_dtype))
        held = model.weight_bytes()
        read = sum(held["linear"].values()) + sum((held["head"] or held["embedding"]).values())
        tokens = 8 * llm.config.block_size
        numbers = 2 * config.num_layers * config.num_kv_heads * config.head_size * tokens
        request = Request(0, [1, 2, 3], 3, 4, frozenset())
        request.num_computed = 2
        got = llm.runner.cost(Plan(items=[(request, 1)]))
        want = batch_cost(config, [(1, 3)], read / weights, llm.cache.nbytes / numbers)
        assert got.bytes == pytest.approx(want.bytes, rel=1e-12)
    assert got.bytes < llm.runner.model.num_parameters() * 1.2  # about a byte a weight


@pytest.mark.parametrize("arrival", [float("nan"), float("inf"), -float("inf"), 10**400, "x", []])
def test_an_arrival_that_is_no_time_is_refused_and_stops_nobody(arrival):
    llm = small()
    with pytest.raises(ValueError, match="arrival must be a finite number"):
        llm.add([1, 2, 3], exactly(2), arrival=arrival)
    assert llm.unfinished == 0
    assert len(llm.generate([[1, 2, 3]], exactly(2))[0].tokens) == 2
    llm.check()


def test_samples_of_an_aborted_request_still_come_when_they_were_to_come():
    llm = small(clock=VirtualClock(PAPER_GPU))
    first = llm.add([1, 2, 3], exactly(2, n=3, seed=1, temperature=1.0), arrival=5.0)
    llm.abort(first)
    queues = {}
    while llm.unfinished:
        queues |= {e.request.id: e.completion.metrics for e in llm.step() if e.completion}
    assert set(queues) == {first + 1, first + 2}
    assert all(m.queue >= 0 and m.started >= 5.0 for m in queues.values())
    llm.check()


@pytest.mark.parametrize("wrong", [
    dict(prefix_caching="no"), dict(cuda_graphs=None), dict(cuda_graphs=3), dict(clock=5),
    dict(memory_fraction="0.5"), dict(memory_fraction=None), dict(memory_fraction=True),
])  # fmt: skip
def test_settings_of_another_type_are_refused_by_name(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        EngineConfig(**wrong)


@pytest.mark.parametrize("config, message", [
    (dict(num_blocks=10**12), "at most .* fit"), (dict(num_blocks=10**20), "at most .* fit"),
    (dict(num_blocks=None, block_size=10**6), "no block would ever be full"),
])  # fmt: skip
def test_a_pool_that_cannot_be_is_refused_before_it_is_made(config, message):
    with pytest.raises(ConfigError, match=message):
        small(**config)


def test_seats_beyond_the_budget_take_no_memory():
    few = small(num_blocks=None, max_num_seqs=8, max_batch_tokens=8)
    many = small(num_blocks=None, max_num_seqs=10**12, max_batch_tokens=8)
    assert few.blocks.num_blocks == many.blocks.num_blocks


@pytest.mark.parametrize("prompts, params, message", [
    (None, None, "list of prompts"), ("text", None, "list of prompts"),
    ([None], None, "a prompt is"), ([5], None, "a prompt is"), ([b"abc"], None, "a prompt is"),
    ([{5: 6}], None, "a prompt is"), (["text"], None, "needs a tokenizer"),
    ([[1, 2]], "hi", "params must be"), ([[1, 2]], {"n": 1}, "params must be"),
    ([[1] * 5000], None, "context of .*shorten"),
])  # fmt: skip
def test_what_is_no_prompt_is_refused_and_leaves_nothing(prompts, params, message):
    llm = small()
    with pytest.raises((TypeError, ValueError), match=message):
        llm.generate(prompts, params)
    assert llm.unfinished == 0
    llm.check()


def test_a_prompt_that_uses_the_engine_while_it_is_read():
    llm = small()

    def asking():
        yield 5
        llm.generate([[1, 2]], exactly(1))
        yield 6

    (answer,) = llm.generate([asking()], exactly(3))
    (alone,) = llm.generate([[5, 6]], exactly(3))
    assert answer.tokens == alone.tokens and llm.unfinished == 0


def test_logits_of_nan_name_their_request(monkeypatch):
    llm = small()
    first, second = llm.add([1, 2, 3], exactly(3)), llm.add([4, 5], exactly(3))
    forward = llm.model.forward

    def broken(*args, **more):
        logits = forward(*args, **more).clone()
        logits[-1] = float("nan")  # the last row is that of the second request
        return logits

    monkeypatch.setattr(llm.model, "forward", broken)
    with pytest.raises(ArithmeticError, match=rf"request {second}: .*abort\({second}\)"):
        llm.step()
    monkeypatch.undo()
    llm.abort(second)
    done = [e.completion for _ in range(9) if llm.unfinished for e in llm.step() if e.completion]
    assert [len(c.tokens) for c in done] == [3] and first != second
