"""Who runs in the next step, and what a step changed. Integers only, no torch.

Each step: `schedule` makes a Plan, somebody runs it, `commit` takes the new tokens. Requests that
write (one token pending) go first, then those that have more to catch up, in pieces as the token
budget allows (chunked prefill, Agrawal et al. 2023), then waiting ones, first come first served.
When the pool is full the last admitted request gives its blocks back and computes again later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from minillm.cache.blocks import BlockManager
from minillm.config import EngineConfig
from minillm.engine.metrics import Completion
from minillm.engine.request import Request


@dataclass
class Plan:
    """One step as a value. items: (request, new tokens to compute), the writing ones first."""

    items: list[tuple[Request, int]] = field(default_factory=list)
    copies: list[tuple[int, int]] = field(default_factory=list)  # blocks, before the step
    preempted: list[Request] = field(default_factory=list)

    @property
    def num_tokens(self) -> int:
        return sum(count for _, count in self.items)


@dataclass(frozen=True)
class Event:
    """A request wrote a token; with a finish_reason it was its last."""

    request: Request
    token: int
    finish_reason: str | None = None
    completion: Completion | None = None  # the whole answer, in the last event (set by LLM)


class Scheduler:
    """Decides; owns `num_computed` of every request."""

    def __init__(self, config: EngineConfig, blocks: BlockManager, max_model_len: int):
        self.config, self.blocks, self.max_model_len = config, blocks, max_model_len
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []  # in the order of admission
        # Your own policy: the waiting requests -> the same ones, who is to start first in front.
        self.order: Callable[[list[Request]], list[Request]] | None = None

    def add(self, request: Request) -> None:
        """Queue a request; raises what check_fits raises."""
        self.check_fits(request)
        self.waiting.append(request)

    def check_fits(self, request: Request) -> None:
        """ValueError with advice if a request is empty or can never fit."""
        if not request.num_prompt:
            raise ValueError("the prompt is empty: give at least one token (begin-of-text)")
        if request.longest > self.max_model_len:
            raise ValueError(
                f"{request.num_prompt} prompt tokens and max_tokens={request.max_tokens} exceed "
                f"the context of {self.max_model_len}: shorten the prompt or lower max_tokens to "
                f"{max(self.max_model_len - request.num_prompt + 1, 0)}"
            )
        need, have = self.blocks.blocks_for(request.longest), self.blocks.num_blocks
        if need > have:
            raise ValueError(
                f"this request needs {need} blocks of {self.blocks.block_size} tokens, the pool "
                f"has {have}: shorten it, or make num_blocks at least {need}"
            )

    def schedule(self) -> Plan:
        """The next step's plan; empty if there is nothing to do."""
        plan, budget = Plan(), self.config.max_batch_tokens
        if self.order and self.waiting:
            self._line_up()
        catching_up = sorted(self.running, key=lambda r: r.pending > 1)  # stable: then by age
        for request in catching_up:
            if budget and request not in plan.preempted:  # by an older one, in this loop
                budget -= self._continue(request, budget, plan)
        if not plan.preempted and (self.config.policy == "continuous" or not self.running):
            if self.config.policy == "static":  # as static batches do: all prompts in one step
                budget = self.config.max_num_seqs * self.max_model_len
            while budget and self.waiting and len(self.running) < self.config.max_num_seqs:
                count = self._admit(self.waiting[0], budget, plan)
                if not count:
                    break
                budget -= count
        plan.items.sort(key=lambda item: item[1] > 1)
        return plan

    def _line_up(self) -> None:
        ordered = list(self.order(list(self.waiting)))
        same = sorted(map(id, ordered)) == sorted(map(id, self.waiting))
        assert same, "order must give back exactly the requests that it was given"
        self.waiting = deque(ordered)

    def _continue(self, request: Request, budget: int, plan: Plan) -> int:
        """Plan a running request's next tokens, taking blocks from younger ones if need be."""
        count = min(request.pending, budget)
        end = request.num_computed + count
        while (copies := self.blocks.grow(request.id, request.num_computed, end)) is None:
            victim = self.running[-1]
            self._preempt(victim, plan)
            if victim is request:
                return 0
        plan.items.append((request, count))
        plan.copies += copies
        return count

    def _preempt(self, victim: Request, plan: Plan) -> None:
        """Give all its blocks back; it waits at the front and computes everything again."""
        self.running.remove(victim)
        plan.items = [item for item in plan.items if item[0] is not victim]
        mine = self.blocks.table(victim.id)
        plan.copies = [copy for copy in plan.copies if copy[1] not in mine]
        plan.preempted.append(victim)
        self.blocks.release(victim.id)
        victim.num_computed = 0
        victim.preemptions += 1
        self.waiting.appendleft(victim)

    def _admit(self, request: Request, budget: int, plan: Plan) -> int:
        """Start (or restart) the first waiting request if all it has so far fits -> its tokens."""
        known = request.tokens if request.share_prefix else []
        found = self.blocks.match(request.id, known, request.extras)
        count = min(len(request.tokens) - found, budget)
        missing = self.blocks.blocks_for(len(request.tokens)) - found // self.blocks.block_size
        if missing > self.blocks.num_free:
            self.blocks.release(request.id)
            return 0
        plan.copies += self.blocks.grow(request.id, found, found + count)
        self.waiting.popleft()
        self.running.append(request)
        request.num_computed = found
        if not request.preemptions:
            request.num_cached = found
        plan.items.append((request, count))
        return count

    def commit(self, plan: Plan, sampled: dict[int, int]) -> list[Event]:
        """The step ran: count its tokens, name full blocks, append what was sampled.

        sampled: request id -> next token, for each request that has caught up in this plan.
        """
        events = []
        for request, count in plan.items:
            if request.finish_reason:  # aborted while the step ran
                continue
            request.num_computed += count
            self.blocks.seal(request.id, request.tokens, request.num_computed, request.extras)
            if request.pending:
                continue
            self._fork(request)
            events.append(self._append(request, sampled[request.id]))
        return events

    def _append(self, request: Request, token: int) -> Event:
        if token in request.end_ids:
            self.finish(request, "stop")
        else:
            request.tokens.append(token)
            if len(request.tokens) - request.num_prompt == request.max_tokens:
                self.finish(request, "length")
        return Event(request, token, request.finish_reason)

    def _fork(self, request: Request) -> None:
        """n samples of one prompt: the others start where the first stands, sharing its blocks.

        Each computes the last prompt token once more, for its own logits. Those that find no seat,
        or must compute every prompt token, wait as requests of their own.
        """
        for sibling in request.siblings:
            if sibling.finish_reason:
                continue
            if sibling.share_prefix and len(self.running) < self.config.max_num_seqs:
                sibling.num_computed = sibling.num_cached = request.num_prompt - 1
                self.blocks.fork(request.id, sibling.id, sibling.num_computed)
                self.running.append(sibling)
            else:
                self.waiting.append(sibling)
        request.siblings = []

    def finish(self, request: Request, reason: str) -> None:
        """End a request, whatever it is doing; its blocks go back. Twice does nothing."""
        if request.finish_reason:
            return
        request.finish_reason = reason
        if request.id in self.blocks.holdings:  # it runs; looking through a queue takes longer
            self.running.remove(request)
            self.blocks.release(request.id)
        elif request in self.waiting:
            self.waiting.remove(request)
        self.waiting.extend(s for s in request.siblings if not s.finish_reason)
        request.siblings = []

    def restart(self, requests: Iterable[Request]) -> None:
        """Trust nothing of what was planned: an empty pool, and these wait, in this order."""
        self.blocks.clear()
        self.running.clear()
        self.waiting.clear()
        self.waiting.extend(requests)

    def check(self) -> None:
        """Assert what must hold at any time, also between `schedule` and `commit`."""
        self.blocks.check()
        held = {r.id for r in self.running}
        assert set(self.blocks.holdings) == held, "blocks held by requests that do not run"
        assert len(self.running) <= self.config.max_num_seqs
        for request in self.running:
            assert 0 <= request.num_computed < len(request.tokens), "running, nothing to do"
            held, computed = self.blocks.holdings[request.id], request.num_computed
            assert len(held.table) >= self.blocks.blocks_for(computed)
            assert len(held.hashes) * self.blocks.block_size <= computed, "named before computed"
        for request in self.waiting:
            assert request.num_computed == 0 and not request.finish_reason
