"""The engine's front: prompts in, text out, many at once. Only this file sees text."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from minillm.cache.blocks import BlockManager
from minillm.cache.paged import PagedCache
from minillm.config import EngineConfig
from minillm.engine.answers import Answers
from minillm.engine.journal import Change, Journal
from minillm.engine.metrics import Completion, EngineMetrics
from minillm.engine.pool import num_blocks_for, pool_dtype
from minillm.engine.prompts import pair, read_params, read_prompt
from minillm.engine.request import Request, arrival_time
from minillm.engine.runner import Runner
from minillm.engine.scheduler import Event, Plan, Scheduler
from minillm.sampling import SamplingParams


class LLM:
    """A model that serves many requests. Not thread-safe: one caller steps it."""

    def __init__(self, model, tokenizer, config: EngineConfig | None = None):
        self.model, self.tokenizer = model, tokenizer
        self.config = config or EngineConfig()
        dtype, kv_dtype = pool_dtype(model, self.config.kv_dtype)
        count = num_blocks_for(model, self.config, kv_dtype)
        limit = min(self.config.max_model_len or model.config.max_len, model.config.max_len)
        device, size = model.embedding.weight.device, self.config.block_size
        pages = count + self.config.cuda_graphs  # one more, for the padding of recorded steps
        self.cache = PagedCache(model.config, pages, size, dtype, kv_dtype, device)
        self.blocks = BlockManager(count, size, self.config.prefix_caching)
        self.scheduler = Scheduler(self.config, self.blocks, limit)
        self.runner = Runner(model, self.cache, self.blocks, self.config)
        self.metrics = EngineMetrics()
        self.requests: dict[int, Request] = {}  # those that have not ended
        self.answers = Answers(tokenizer)  # what they have written
        self.times = self.answers.times
        self.future: list[tuple[float, int]] = []  # (arrival, id), a heap
        self.next_id = 0
        self.journal = Journal(self)
        self.doomed: set[int] = set()  # of calls that were left early, to be ended
        self._start = time.perf_counter()

    def now(self) -> float:
        """Seconds of the engine's clock: the virtual one if there is one, else since its start."""
        if self.config.clock is not None:
            return self.config.clock.now
        return time.perf_counter() - self._start

    def add(self, prompt: str | Sequence[int], params: SamplingParams | None = None,
            arrival: float | None = None) -> int:  # fmt: skip
        """Queue a prompt -> its id. Raises ValueError, with advice, for what can never run.

        arrival: seconds of the engine's clock at which it comes (None: now). For n > 1 the answers
        carry the ids id, id + 1, ... id + n - 1. Its last event of `step` brings the Completion;
        after it nothing of the request is kept.
        """
        self._settle()
        params = read_params(params)
        tokens = read_prompt(self.model, self.tokenizer, prompt, params)
        arrival = arrival_time(arrival, self.now())
        requests = [self._request(tokens, params, arrival, i) for i in range(params.n)]
        first = requests[0]
        self.scheduler.check_fits(first)  # raise now what would be raised at its arrival
        first.siblings = requests[1:]
        self.next_id += params.n
        change = self.journal.begin(added=[r.id for r in requests])
        for request in requests:
            self.answers.begin(request)
            self.requests[request.id] = request
        heapq.heappush(self.future, (arrival, first.id))
        self._let_in()
        change.done = True
        self.journal.settle()
        return first.id

    def _request(self, tokens, params: SamplingParams, arrival: float, nth: int) -> Request:
        ends = set(params.stop_token_ids)
        ends |= set() if params.ignore_eos else set(self.model.config.eos_token_ids)
        if params.seed is not None:  # each sample its own stream, the first as if n were 1
            params = replace(params, seed=(params.seed + nth) % (1 << 63))
        return Request(
            self.next_id + nth, list(tokens), len(tokens), params.max_tokens, frozenset(ends),
            params, arrival, share_prefix=params.prompt_logprobs is None,
        )  # fmt: skip

    @property
    def unfinished(self) -> int:
        """Requests that have not ended, or whose end `step` has not told yet."""
        return len(self.requests) + sum(e.completion is not None for e in self.journal.page.told)

    def step(self) -> list[Event]:
        """Run one step -> what happened: tokens written, requests ended.

        [] also after a step that only read a part of a prompt: go on while `unfinished`. With
        arrivals in the future and nothing to do the clock moves on to the next one. A step that
        is interrupted (Ctrl-C) has not happened: the next call takes it back and goes on.
        """
        self._settle()
        if not self.journal.page.told:  # of steps that `generate` or `stream` has made meanwhile
            self._advance()
        return self.journal.take()

    def _advance(self) -> None:
        """One step; its events go to the journal."""
        self._settle()
        change = self.journal.begin()
        self._wait()
        self._let_in()
        began = time.perf_counter()
        plan = self.scheduler.schedule()
        planned = time.perf_counter()
        if plan.items:
            change.sizes = {request: len(request.tokens) for request, _ in plan.items}
            self.journal.run(self._run, plan, change)
            run = time.perf_counter() - planned
            self.metrics.count(plan, planned - began, run)
            self.metrics.hold(self.scheduler.running, self.blocks)
        change.done = True  # until here an interrupt takes everything back, from here nothing
        self.journal.settle()

    def _run(self, plan: Plan, change: Change) -> None:
        start = self.now()
        for request, _ in plan.items:
            times = self.times[request.id]
            times.started = start if times.started is None else times.started
        sampled = self.runner.run(plan)
        if self.config.clock is not None:
            self.config.clock.charge(self.runner.cost(plan))
        for event in self.scheduler.commit(plan, sampled):
            change.events.append(self._tell(event))

    def _settle(self) -> None:
        """Finish what an interrupt has left; often nothing to do."""
        self.journal.settle()
        if self.doomed:
            for request_id in self.doomed.intersection(self.requests):
                self._abort(self.requests[request_id])
            self.journal.take(self.doomed)
            self.doomed.clear()

    def _wait(self) -> None:
        """Sleep until the next arrival if there is nothing else to do."""
        if self.scheduler.waiting or self.scheduler.running or not self.future:
            return
        wait = self.future[0][0] - self.now()
        if wait > 0 and self.config.clock is not None:
            self.config.clock.advance(wait)
        elif wait > 0:
            time.sleep(min(wait, 3600))  # a longer wait goes on at the next call

    def _let_in(self) -> None:
        """Hand the requests whose time has come to the scheduler."""
        now = self.now()
        while self.future and self.future[0][0] <= now:
            request = self.requests.get(heapq.heappop(self.future)[1])
            if request is not None:
                self.scheduler.add(request)

    def _tell(self, event: Event) -> Event:
        """Add a token to its answer; a stop string in the text, or the event, ends the request."""
        request = event.request
        self.metrics.written += 1
        ended = event.finish_reason == "stop"
        if self.answers.write(request, event.token, self.now(), ended):
            self.scheduler.finish(request, "stop")
            request.finish_reason = "stop"
            event = replace(event, finish_reason="stop")
        if event.finish_reason:
            event = replace(event, completion=self._end(request))
        return event

    def _end(self, request: Request) -> Completion:
        """What a request that has ended leaves behind; it is forgotten when the change is done."""
        self.journal.page.change.ended.append(request.id)
        self.metrics.prompt_tokens += request.num_prompt
        self.metrics.cached_tokens += request.num_cached
        self.times[request.id].num_cached = request.num_cached
        return self.answers.complete(request, self.now(), *self.runner.scores(request))

    def _forget(self, request_id: int) -> None:
        self.requests.pop(request_id, None)
        self.answers.forget(request_id)
        self.runner.forget(request_id)

    def abort(self, request_id: int) -> Completion | None:
        """End a request wherever it is -> what it wrote; None for unknown or ended ids."""
        self._settle()
        request = self.requests.get(request_id)
        return None if request is None else self._abort(request)

    def _abort(self, request: Request) -> Completion:
        change = self.journal.begin()
        if request.arrival > self.now():  # the other samples still come when they were to come
            for sibling in request.siblings:
                heapq.heappush(self.future, (sibling.arrival, sibling.id))
            request.siblings = []
        self.scheduler.finish(request, "abort")
        completion = self._end(request)
        change.done = True
        self.journal.settle()
        return completion

    def generate(self, prompts, params: SamplingParams | Sequence[SamplingParams] | None = None):
        """Answer all prompts -> list[Completion] in their order (n > 1: n of them a prompt).

        prompts: a list of str or of token lists. params: one for all, or one a prompt. After
        Ctrl-C the requests of this call are aborted and the engine can be used again.
        """
        pairs = pair(prompts, params)
        first, answers = self.next_id, {}
        try:
            for prompt, p in pairs:
                self.add(prompt, p)
            ids = range(first, self.next_id)
            while len(answers) < len(ids):
                self._advance()
                for event in self.journal.take(ids):
                    if event.completion:
                        answers[event.request.id] = event.completion
            return [answers[i] for i in ids]
        finally:
            self._leave(range(first, self.next_id))

    def _leave(self, ids: Iterable[int]) -> None:
        """A call is over, perhaps early: end what it began. Another Ctrl-C: at the next call."""
        self.doomed.update(ids)
        if not self.journal.running:  # a forgotten stream may be collected in the midst of a step
            self._settle()

    def stream(self, prompt: str, params: SamplingParams | None = None) -> Iterator[str]:
        """Pieces of the answer as they are certain. Closing the iterator aborts the request."""
        if params is not None and params.n != 1:
            raise ValueError("stream writes one text: use generate for n > 1")
        first = self.next_id
        try:
            request_id = self.add(prompt, params)
            texts, told = self.answers.texts[request_id], 0
            while request_id in self.requests:
                self._advance()
                self.journal.take((request_id,))
                while told < len(texts):
                    if texts[told]:
                        yield texts[told]
                    told += 1
        finally:
            self._leave((first,))

    def check(self) -> None:
        """Assert every invariant of scheduler and block manager."""
        self._settle()
        self.scheduler.check()
