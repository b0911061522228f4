"""Ctrl-C at any place: the engine stays usable, loses no token of others, and keeps nothing."""

from __future__ import annotations

import contextlib
import gc
import sys
import weakref
from pathlib import Path

import pytest
import torch
import zoo

import minillm
from minillm.clock import PAPER_GPU, VirtualClock
from minillm.config import EngineConfig
from minillm.engine.llm import LLM
from minillm.generate import generate, stream_text
from minillm.sampling import SamplingParams

ENGINE = str(Path(minillm.__file__).parent / "engine")
BLOCKS = str(Path(minillm.__file__).parent / "cache" / "blocks.py")
EVERYTHING = (
    str(Path(minillm.__file__).parent), torch.autograd.grad_mode.__file__,
    torch.utils._contextlib.__file__,
)  # fmt: skip
MODEL = zoo.random_model("qwen3")


class Interrupt:
    """Inside `with`, the line number `at` (counted over the engine's files) raises Ctrl-C.

    Not in `take`, with which a step returns: a result may be lost on its way to the caller, as
    that of every function.
    """

    def __init__(self, at: int, files=(ENGINE, BLOCKS)):
        self.left, self.files, self.hit = at, files, False

    def _trace(self, frame, event, arg):
        code = frame.f_code
        if not code.co_filename.startswith(self.files) or code.co_name == "take":
            return None
        if event == "line":
            self.left -= 1
            if self.left < 0 and not self.hit:
                self.hit = True
                raise KeyboardInterrupt
        return self._trace

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, kind, value, traceback):
        sys.settrace(self.before)
        return kind is KeyboardInterrupt


def exactly(count: int, **more) -> SamplingParams:
    return SamplingParams(max_tokens=count, ignore_eos=True, **more)


LOAD = [  # a common beginning, drawn and greedy, samples of one prompt; then a pool that overflows
    ([1, 2, 3, 4, 5, 6, 7, 8, 9], exactly(6, temperature=1.0, seed=7, n=2)),
    ([1, 2, 3, 4, 5, 6, 7, 8, 30, 31], exactly(5)),
    ([9, 8, 7], exactly(9, temperature=1.2, seed=3, repetition_penalty=1.2, logprobs=1)),
    ([40, 41, 42, 43, 44, 45], exactly(3, prompt_logprobs=1)),
]


def alone(prompt, params, nth=0):
    if params.seed is None:
        return generate(MODEL, prompt, exactly(params.max_tokens))
    return generate(MODEL, prompt, exactly(
        params.max_tokens, temperature=params.temperature, seed=params.seed + nth,
        repetition_penalty=params.repetition_penalty,
    ))  # fmt: skip


WANT = {
    number: alone(prompt, params, nth)
    for number, (prompt, params, nth) in enumerate(
        (prompt, params, nth) for prompt, params in LOAD for nth in range(params.n)
    )
}


def loaded(steps: int, **options):
    """An engine with LOAD after some steps, and the Completions it has told."""
    settings = {"block_size": 4, "num_blocks": 9, "max_batch_tokens": 9, "max_num_seqs": 3}
    llm, done = LLM(MODEL, None, EngineConfig(**settings | options)), {}
    for prompt, params in LOAD:
        llm.add(prompt, params)
    for _ in range(steps):
        collect(llm.step(), done)
    return llm, done


def collect(events, done) -> None:
    for event in events:
        if event.completion:
            assert event.request.id not in done, "told twice"
            done[event.request.id] = event.completion


def finish(llm, done) -> None:
    while llm.unfinished:
        collect(llm.step(), done)
        llm.check()
    assert {i: c.tokens for i, c in done.items()} == WANT
    assert llm.blocks.num_free == 9 and not torch.is_inference_mode_enabled()
    assert len(done[3].logprobs) == 9 and len(done[4].prompt_logprobs) == 6
    assert all(len(c.metrics.token_times) == len(c.tokens) for c in done.values())


def lines_of(action) -> int:
    with Interrupt(10**9) as counter:
        action()
    return 10**9 - counter.left


@pytest.mark.parametrize("steps", [0, 1, 2, 5, 8, 11])
def test_a_step_interrupted_anywhere_is_taken_back(steps):
    """All files of the engine, every third line; the lines between with another start."""
    total = lines_of(loaded(steps)[0].step) - 1  # without the last: the return
    assert total > 100
    for at in range(steps % 3, total, 3):
        llm, done = loaded(steps)
        with Interrupt(at) as hit:
            collect(llm.step(), done)
        assert hit.hit
        llm.check()
        finish(llm, done)


@pytest.mark.parametrize("steps", [0, 4])
def test_a_step_interrupted_inside_the_model_or_torch_leaves_both_as_they_were(steps):
    """Also between the lines with which torch enters and leaves inference mode."""
    whole, _ = loaded(steps)
    with Interrupt(10**9, EVERYTHING) as counter:
        whole.step()
    for at in range(steps, 10**9 - counter.left - 1, 11):
        llm, done = loaded(steps)
        with Interrupt(at, EVERYTHING) as hit:
            collect(llm.step(), done)
        assert hit.hit and torch.is_grad_enabled()
        finish(llm, done)


def test_the_taking_back_can_be_interrupted_too():
    def broken():
        llm, done = loaded(5)
        with Interrupt(300):
            collect(llm.step(), done)
        return llm, done

    for at in range(1, lines_of(broken()[0].check), 4):
        llm, done = broken()
        with Interrupt(at):
            llm.check()
        llm.check()
        finish(llm, done)


def test_an_interrupted_add_has_not_happened_or_has():
    whole, _ = loaded(3)
    for at in range(0, lines_of(lambda: whole.add([5, 6], exactly(2, n=2))), 3):
        llm, done = loaded(3)
        with Interrupt(at):
            llm.add([5, 6], exactly(2, n=2))
        llm.check()
        assert llm.unfinished in (5, 7)
        more = {i: generate(MODEL, [5, 6], exactly(2)) for i in set(llm.requests) - set(WANT)}
        while llm.unfinished:
            collect(llm.step(), done)
        assert {i: c.tokens for i, c in done.items()} == WANT | more


def test_an_interrupted_abort_has_not_happened_or_has():
    whole, _ = loaded(3)
    for at in range(lines_of(lambda: whole.abort(2))):
        llm, done = loaded(3)
        with Interrupt(at):
            llm.abort(2)
        llm.check()
        while llm.unfinished:
            collect(llm.step(), done)
        assert {i: c.tokens for i, c in done.items()} in (
            WANT, {i: t for i, t in WANT.items() if i != 2}
        )  # fmt: skip


def test_an_interrupted_generate_gives_up_its_own_requests_only():
    """Those added before go on, and `step` tells every one of their events."""
    params = exactly(4, n=2)
    run = lambda llm: llm.generate([[7, 7], [1, 2, 3, 4, 5]], params)
    whole, _ = loaded(2)
    total = lines_of(lambda: run(whole))
    for at in range(0, total, 61):
        llm, done = loaded(2)
        with Interrupt(at):
            run(llm)
        assert set(llm.requests) <= set(WANT)
        finish(llm, done)
        (answer,) = llm.generate([[7, 7]], exactly(4))
        assert answer.tokens == generate(MODEL, [7, 7], exactly(4))


@contextlib.contextmanager
def in_the_midst_of_a_step(action):
    """Inside `with`, the model calls `action` once, on its next forward."""
    left = [action]

    def before_forward(*_) -> None:
        if left:
            left.pop()()

    hook = MODEL.register_forward_pre_hook(before_forward)
    try:
        yield
    finally:
        hook.remove()


@pytest.mark.parametrize("steps", [0, 4])
@pytest.mark.parametrize(
    "call",
    [
        lambda llm: llm.abort(2), lambda llm: llm.add([1], exactly(1)), LLM.step, LLM.check,
        lambda llm: llm.generate([[1]], exactly(1)),
    ],
)  # fmt: skip
def test_a_call_from_inside_a_step_is_refused_and_changes_nothing(steps, call):
    llm, done = loaded(steps)
    with in_the_midst_of_a_step(lambda: call(llm)):
        with pytest.raises(RuntimeError, match="while it runs a step.*between two steps"):
            llm.step()
    llm.check()
    finish(llm, done)


def test_a_step_goes_on_where_somebody_catches_the_refusal():
    llm, done = loaded(4)

    def refused():
        with pytest.raises(RuntimeError, match="between two steps"):
            llm.abort(2)

    with in_the_midst_of_a_step(refused):
        assert llm.step(), "tokens were written"
    finish(llm, done)


def test_a_stream_forgotten_in_the_midst_of_a_step_ends_after_it():
    """The collector of garbage runs where it likes; the step of the others goes on."""
    model, tokenizer = minillm.load("tiny", dtype="fp64", device="cpu")
    llm = LLM(model, tokenizer)
    streams = [llm.stream("Once upon", exactly(30))]
    next(streams[0])
    other = llm.add("The dog", exactly(5))
    hook = model.register_forward_pre_hook(lambda *_: streams.clear())
    llm.step()
    hook.remove()
    assert set(llm.requests) >= {other} and llm.doomed, "to be ended at the next call"
    answers = {e.request.id: e.completion for e in iter_steps(llm) if e.completion}
    assert set(answers) == {other} and not llm.requests
    assert answers[other].tokens == generate(model, tokenizer.encode("The dog"), exactly(5))


def iter_steps(llm):
    while llm.unfinished:
        yield from llm.step()


@pytest.mark.parametrize("steps", [1, 4])
def test_text_streams_and_the_virtual_clock_survive_an_interrupted_step(steps):
    model, tokenizer = minillm.load("tiny", dtype="fp64", device="cpu")
    params = exactly(12, temperature=0.8, seed=2, stop=("e ",))
    want = "".join(stream_text(model, tokenizer, "Once upon", params))

    def begun():
        llm = LLM(model, tokenizer, EngineConfig(num_blocks=8, clock=VirtualClock(PAPER_GPU)))
        stream, pieces = llm.stream("Once upon", params), []
        llm.add("add: 1+", exactly(9))
        pieces.append(next(stream))
        for _ in range(steps):
            llm.step()
        return llm, stream, pieces

    def state(llm):
        times = [llm.now(), *(len(t.token_times) for t in llm.times.values())]
        return {n: v for n, v in vars(llm.metrics).items() if "seconds" not in n}, times

    llm, *_ = begun()
    before, states = state(llm), []
    for at in range(5, lines_of(begun()[0].step) - 1, 9):
        llm, stream, pieces = begun()
        with Interrupt(at) as hit:
            llm.step()
        assert hit.hit
        llm.check()
        states.append(state(llm))
        assert "".join(pieces + list(stream)) == want
    done = [s for s in states if s != before]
    assert len(done) < 3 and all(s == done[0] for s in done), "not at all, or at the end as a whole"


def test_ten_thousand_requests_leave_nothing_behind():
    """add and step alone, a few aborted, some waiting for later: every container is empty again."""
    llm = LLM(MODEL, None, EngineConfig(block_size=4, num_blocks=64, max_num_seqs=16))
    told, aborted, sizes, alive = 0, 0, set(), []
    for number in range(10_000):
        params = exactly(1 + number % 2, seed=number, temperature=float(number % 3), logprobs=0)
        request_id = llm.add([number % 7, 3], params, arrival=-1.0)
        if number % 50 == 0:
            assert llm.abort(request_id).finish_reason == "abort"
            aborted += 1
        if number % 16 == 15:
            while llm.unfinished:
                ends = [e.completion for e in llm.step() if e.completion]
                told += len(ends)
                alive += map(weakref.ref, ends)
                del ends
            sizes.add(tuple(map(len, kept_by(llm))))
    assert told + aborted == 10_000 and set().union(*sizes) == {0}
    gc.collect()
    assert len(alive) == told and not any(ref() for ref in alive)


def kept_by(llm) -> list:
    """Every container of the engine that has an entry a request."""
    a, r, s = llm.answers, llm.runner, llm.scheduler
    return [
        llm.requests, llm.future, llm.doomed, llm.journal.page.told, a.times, a.texts, a.decoders,
        r.samplers, r.logprobs, r.prompt_logprobs, s.waiting, s.running, llm.blocks.holdings,
    ]  # fmt: skip
