"""What is needed to take an interrupted change back, as if it had not begun (Ctrl-C at any place).

Nothing of a half-done step is repaired. A request only has to catch up, so it is enough to keep
its tokens: what was written in the step is cut off, the pool is emptied, and everybody computes
again what is missing. Each request still writes what it would have written.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minillm.engine.llm import LLM
    from minillm.engine.request import Request
    from minillm.engine.scheduler import Event


@dataclass
class Change:
    """A step, an `add` or an `abort` on its way: what was before, and what comes of it."""

    metrics: dict  # EngineMetrics before
    now: float  # the engine's clock before
    added: list[int] = field(default_factory=list)  # ids that were not there before
    sizes: dict[Request, int] = field(default_factory=dict)  # tokens of those that run, before
    events: list[Event] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)  # to be forgotten when it is done
    done: bool = False  # the moment from which it counts


@dataclass(frozen=True)
class Page:
    """Replaced as a whole, so an interrupt sees the old one or the new one."""

    told: tuple[Event, ...] = ()  # events that nobody has got yet
    change: Change | None = None


class Journal:
    """Which change is on its way, and the events of those that are done."""

    def __init__(self, llm: LLM):
        self.llm, self.page = llm, Page()
        self.work = (None for _ in ())

    def run(self, step: Callable, *args) -> None:
        """Run a step. A generator knows whether it runs, also where an interrupt has ended it."""
        self.work = (step(*args) for _ in (0,))
        list(self.work)

    @property
    def running(self) -> bool:
        """Whether a step runs at this moment: whoever asks is called from inside it."""
        return self.work.gi_running

    def begin(self, **fields) -> Change:
        """Note where everything stands: until `done` is set, whatever follows can be undone."""
        change = Change(dict(vars(self.llm.metrics)), self.llm.now(), **fields)
        self.page = Page(self.page.told, change)
        return change

    def settle(self) -> None:
        """Finish the last change, or take it back if it was interrupted.

        RuntimeError if it is neither: a step that still runs.
        """
        if self.running:
            raise RuntimeError(
                "the engine was called while it runs a step, from a hook, a signal handler or "
                "another thread: call it between two steps"
            )
        told, change = self.page.told, self.page.change
        if change is None:
            return
        if not change.done:
            take_back(self.llm, change)
        for request_id in change.ended:
            self.llm._forget(request_id)
        self.page = Page((*told, *change.events))

    def take(self, ids: Container[int] | None = None) -> list[Event]:
        """Hand out the events of these requests (None: of all)."""
        told = self.page.told
        if ids is None:
            mine, self.page = list(told), Page()
            return mine
        mine = [event for event in told if event.request.id in ids]
        self.page = Page(tuple(event for event in told if event.request.id not in ids))
        return mine


def take_back(llm: LLM, change: Change) -> None:
    """Undo an interrupted change. May itself be interrupted: it is then run again."""
    vars(llm.metrics).update(change.metrics)
    if llm.config.clock is not None:
        llm.config.clock.now = change.now
    for request_id in change.added:
        llm._forget(request_id)
    for request in llm.requests.values():
        del request.tokens[change.sizes.get(request, len(request.tokens)) :]
        request.num_computed, request.finish_reason = 0, None
        llm.runner.take_back(request)
        llm.answers.take_back(request)
    _queue_again(llm)
    change.events, change.ended = [], []


def _queue_again(llm: LLM) -> None:
    """Those that had begun first; samples that still hang on their first one come with it."""
    hanging = {s.id for request in llm.requests.values() for s in request.siblings}
    alone = [request for request in llm.requests.values() if request.id not in hanging]
    now = llm.now()
    arrived = [request for request in alone if request.arrival <= now]
    fresh = lambda request: llm.times[request.id].started is None
    llm.scheduler.restart(sorted(arrived, key=lambda r: (fresh(r), r.arrival, r.id)))
    llm.future[:] = [(r.arrival, r.id) for r in alone if r.arrival > now]
    heapq.heapify(llm.future)
