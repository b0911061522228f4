"""The engine's front: prompts in, text out, many at once. Only this file sees text."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from minillm.cache.blocks import BlockManager
from minillm.cache.paged import PagedCache
from minillm.clock import batch_cost
from minillm.config import EngineConfig
from minillm.engine.metrics import Completion, EngineMetrics, RequestMetrics
from minillm.engine.pool import num_blocks_for, pool_dtype
from minillm.engine.request import Request
from minillm.engine.runner import Runner
from minillm.engine.scheduler import Event, Plan, Scheduler
from minillm.generate import check_prompt
from minillm.sampling import SamplingParams
from minillm.tokenizer import StreamDecoder


class LLM:
    """A model that serves many requests. Not thread-safe: one caller steps it."""

    def __init__(self, model, tokenizer, config: EngineConfig | None = None):
        self.model, self.tokenizer = model, tokenizer
        self.config = config or EngineConfig()
        dtype, kv_dtype = pool_dtype(model, self.config.kv_dtype)
        count = num_blocks_for(model, self.config, kv_dtype)
        limit = min(self.config.max_model_len or model.config.max_len, model.config.max_len)
        device = model.embedding.weight.device
        size = self.config.block_size
        self.cache = PagedCache(model.config, count, size, dtype, kv_dtype, device)
        self.blocks = BlockManager(count, size, self.config.prefix_caching)
        self.scheduler = Scheduler(self.config, self.blocks, limit)
        self.runner = Runner(model, self.cache, self.blocks)
        self.metrics = EngineMetrics()
        self.requests: dict[int, Request] = {}  # those that have not ended
        self.times: dict[int, RequestMetrics] = {}
        self.decoders: dict[int, StreamDecoder] = {}
        self.texts: dict[int, list[str]] = {}
        self.future: list[tuple[float, int]] = []  # (arrival, id), a heap
        self.next_id = 0
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
        carry the ids id, id + 1, ... id + n - 1.
        """
        params = params or SamplingParams()
        tokens = self.tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt)
        tokens = check_prompt(self.model, tokens, replace(params, n=1, max_tokens=1))
        if not isinstance(prompt, str) and params.stop and self.tokenizer is None:
            raise ValueError("stop strings need a tokenizer")
        arrival = self.now() if arrival is None else float(arrival)
        requests = [self._request(tokens, params, arrival, i) for i in range(params.n)]
        first = requests[0]
        self.scheduler.check_fits(first)  # raise now what would be raised at its arrival
        first.siblings = requests[1:]
        for request in requests:
            self.requests[request.id] = request
            self.times[request.id] = RequestMetrics(arrival)
            self.texts[request.id] = []
            if self.tokenizer is not None:
                self.decoders[request.id] = StreamDecoder(self.tokenizer, params.stop)
        heapq.heappush(self.future, (arrival, first.id))
        self.next_id += params.n
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
        """Requests that have not ended."""
        return len(self.requests)

    def step(self) -> list[Event]:
        """Run one step -> what happened: tokens written, requests ended.

        [] also after a step that only read a part of a prompt: go on while `unfinished`. With
        arrivals in the future and nothing to do the clock moves on to the next one.
        """
        self._let_in()
        began = time.perf_counter()
        plan = self.scheduler.schedule()
        planned = time.perf_counter()
        if not plan.items:
            return []
        start = self.now()
        for request, _ in plan.items:
            times = self.times[request.id]
            times.started = start if times.started is None else times.started
        sampled = self.runner.run(plan)
        self._charge(plan)
        events = self.scheduler.commit(plan, sampled)
        self._count(plan, began, planned)
        return [self._tell(event) for event in events]

    def _let_in(self) -> None:
        """Hand over the requests whose time has come; wait for the next if there is no other."""
        idle = not self.scheduler.waiting and not self.scheduler.running
        if idle and self.future and self.future[0][0] > self.now():
            wait = self.future[0][0] - self.now()
            if self.config.clock is not None:
                self.config.clock.advance(wait)
            else:
                time.sleep(wait)
        now = self.now()
        while self.future and self.future[0][0] <= now:
            request = self.requests.get(heapq.heappop(self.future)[1])
            if request is not None and not request.finish_reason:
                self.scheduler.add(request)

    def _charge(self, plan: Plan) -> None:
        """Let the virtual clock pay for the step: bytes of weights and K/V as really stored."""
        clock = self.config.clock
        if clock is None:
            return
        batch = [(count, request.num_computed + count) for request, count in plan.items]
        weight = self.model.embedding.weight.element_size()
        kv = self.cache.kv.element_size()
        clock.charge(batch_cost(self.model.config, batch, weight, kv))

    def _count(self, plan: Plan, began: float, planned: float) -> None:
        m, running = self.metrics, self.scheduler.running
        m.steps += 1
        m.computed += plan.num_tokens
        m.seat_steps += len(plan.items)
        m.preemptions += len(plan.preempted)
        m.schedule_seconds += planned - began
        m.run_seconds += time.perf_counter() - planned
        size = self.config.block_size
        m.held_slots += sum(len(self.blocks.table(r.id)) for r in running) * size
        m.held_tokens += sum(r.num_computed for r in running)
        for request, _ in plan.items:
            if request.num_computed and request.id in self.requests and not request.preemptions:
                self.times[request.id].num_cached = request.num_cached

    def _tell(self, event: Event) -> Event:
        """Note the time, decode the text, end a request whose text holds a stop string."""
        request, now = event.request, self.now()
        self.times[request.id].token_times.append(now)
        self.metrics.written += 1
        decoder = self.decoders.get(request.id)
        if decoder is not None and event.finish_reason != "stop":
            self.texts[request.id].append(decoder.push(event.token))
            if decoder.stopped:
                self.scheduler.finish(request, "stop")
                request.finish_reason = "stop"
                event = replace(event, finish_reason="stop")
        if event.finish_reason:
            self._end(request)
        return event

    def _end(self, request: Request) -> None:
        times = self.times[request.id]
        times.finished, times.preemptions = self.now(), request.preemptions
        self.metrics.prompt_tokens += request.num_prompt
        self.metrics.cached_tokens += request.num_cached
        decoder = self.decoders.pop(request.id, None)
        if decoder is not None and not decoder.stopped:
            self.texts[request.id].append(decoder.finish())
        del self.requests[request.id]

    def abort(self, request_id: int) -> None:
        """End a request wherever it is; unknown or ended ids do nothing."""
        request = self.requests.get(request_id)
        if request is None:
            return
        self.scheduler.finish(request, "abort")
        request.finish_reason = "abort"
        self._end(request)
        self.runner.forget(request_id)

    def generate(self, prompts, params: SamplingParams | Sequence[SamplingParams] | None = None):
        """Answer all prompts -> list[Completion] in their order (n > 1: n of them a prompt).

        prompts: a list of str or of token lists. params: one for all, or one a prompt. After
        Ctrl-C the requests of this call are aborted and the engine can be used again.
        """
        if isinstance(prompts, str):
            raise TypeError("generate takes a list of prompts: [prompt]")
        prompts = list(prompts)
        many = params if isinstance(params, (list, tuple)) else [params] * len(prompts)
        if len(many) != len(prompts):
            raise ValueError(f"{len(prompts)} prompts, {len(many)} SamplingParams")
        ids, kept = [], {}
        try:
            for prompt, p in zip(prompts, many):
                first = self.add(prompt, p)
                ids += range(first, self.next_id)
            kept = {i: self.requests[i] for i in ids}
            while any(i in self.requests for i in ids):
                self.step()
            return [self._completion(kept[i]) for i in ids]
        finally:
            for i in ids:
                self.abort(i)
                self._forget(i)

    def _completion(self, request: Request) -> Completion:
        i, params = request.id, request.params
        prompt_scores = None
        if params.prompt_logprobs is not None:
            prompt_scores = self.runner.prompt_logprobs.get(i)
        return Completion(
            "".join(self.texts[i]), request.output, request.finish_reason, self.times[i],
            self.runner.logprobs.get(i, []) if params.logprobs is not None else None,
            prompt_scores,
        )  # fmt: skip

    def _forget(self, request_id: int) -> None:
        self.runner.forget(request_id)
        for kept in (self.texts, self.times, self.decoders):
            kept.pop(request_id, None)

    def stream(self, prompt: str, params: SamplingParams | None = None) -> Iterator[str]:
        """Pieces of the answer as they are certain. Closing the iterator aborts the request."""
        if params is not None and params.n != 1:
            raise ValueError("stream writes one text: use generate for n > 1")
        request_id = self.add(prompt, params)
        texts, told = self.texts[request_id], 0
        try:
            while request_id in self.requests:
                self.step()
                while told < len(texts):
                    if texts[told]:
                        yield texts[told]
                    told += 1
        finally:
            self.abort(request_id)
            self._forget(request_id)

    def check(self) -> None:
        """Assert every invariant of scheduler and block manager."""
        self.scheduler.check()
