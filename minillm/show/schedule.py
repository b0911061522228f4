"""Pictures of chapter 07: what each step computes, who gives way, and which blocks are shared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from minillm.show.canvas import PALETTE, SERIES, Picture, ink, new_figure
from minillm.show.memory import letter


@dataclass(frozen=True)
class Planned:
    """A Plan as it was when it was made: requests change afterwards, this does not."""

    items: tuple[tuple[int, int, bool], ...]  # (request id, tokens, does it write afterwards?)
    preempted: tuple[int, ...] = ()  # request ids

    @property
    def num_tokens(self) -> int:
        return sum(count for _, count, _ in self.items)

    @property
    def writing(self) -> int:
        """Tokens of requests that needed just one."""
        return sum(count for _, count, _ in self.items if count == 1)

    def __str__(self) -> str:
        said = [
            f"{letter(who)} {count}{'' if writes else '...'}" for who, count, writes in self.items
        ]
        said += [f"{letter(who)} gives way" for who in self.preempted]
        return ", ".join(said) or "nothing"


def planned(plan) -> Planned:
    """A Plan (minillm.engine.scheduler) before its step runs, as a value to keep and to draw."""
    items = tuple((r.id, count, count == r.pending) for r, count in plan.items)
    return Planned(items, tuple(r.id for r in plan.preempted))


def plans_of(
    plan_step: Callable, jobs: Sequence[tuple[int, int]], budget: int, seats: int = 64
) -> list[Planned]:
    """Plans of a plan_step (exercise 7.2) until all are served; at most 200 steps.

    jobs: (tokens to read, tokens to write) of each request; all wait at the start.
    """
    waiting, running = [(letter(i), read) for i, (read, _) in enumerate(jobs)], []
    left = {letter(i): write for i, (_, write) in enumerate(jobs)}
    number, plans = {letter(i): i for i in range(len(jobs))}, []
    while (running or waiting) and len(plans) < 200:
        plan = dict(plan_step(list(running), list(waiting), budget, seats))
        pending = dict(running + waiting)
        plans.append(Planned(tuple((number[w], n, n == pending[w]) for w, n in plan.items())))
        running += [item for item in waiting if item[0] in plan]
        waiting = [item for item in waiting if item[0] not in plan]
        running = [(who, missing - plan.get(who, 0)) for who, missing in running]
        for who in [who for who, missing in running if not missing]:
            left[who] -= 1  # it has caught up and writes a token, which is then missing
        running = [(who, missing or 1) for who, missing in running if left[who] > 0]
    return plans


def step_tokens(runs: Mapping[str, Sequence[Planned]], budget: float = 0, alt: str = "") -> Picture:
    """Stacked bars: the tokens of each step, one colour and letter a request.

    Plain: a request that writes (one token). Hatched: a piece of a prompt. budget: dashed line.
    """
    wide = max(len(steps) for steps in runs.values())
    figure, axes = new_figure(rows=len(runs), width=7.5, height=1.9 * len(runs) + 0.4, sharex=True)
    top = max(budget, *(s.num_tokens for steps in runs.values() for s in steps))
    said = []
    for axis, (name, steps) in zip(axes, runs.items()):
        for x, step in enumerate(steps):
            _draw_step(axis, x, step, top)
        if budget:
            axis.axhline(budget, color=PALETTE["vermilion"], linestyle="--", linewidth=1.2)
        axis.set(xlim=(-0.6, wide - 0.4), ylim=(0, top * 1.08), ylabel=name)
        axis.locator_params(integer=True)
        sizes = ", ".join(str(s.num_tokens) for s in steps[:40])
        said.append(f"{name}: tokens in each step {sizes}")
    axes[-1].set_xlabel("step")
    return Picture(figure, alt or "; ".join(said) + ".")


def _draw_step(axis, x: int, step: Planned, top: float) -> None:
    bottom = 0
    for who, count, _ in step.items:
        color = SERIES[who % len(SERIES)]
        look = dict(hatch="////", edgecolor="white") if count > 1 else dict(edgecolor="white")
        axis.bar(x, count, bottom=bottom, width=0.9, color=color, linewidth=0.6, **look)
        if count > 0.09 * top:
            back = dict(boxstyle="round,pad=0.15", facecolor=color, linewidth=0)
            place = dict(ha="center", va="center", fontsize=7, color=ink(color), bbox=back)
            axis.text(x, bottom + count / 2, f"{letter(who)}\n{count}", **place)
        bottom += count


def life_lines(steps: Sequence[Planned], alt: str = "") -> Picture:
    """One row a request over the steps: what it computes in each, and where it gives way.

    Plain: it writes. Hatched: it reads several tokens; the number says how many. Grey: it is there
    and computes nothing. Cross: it is preempted, its blocks go back.
    """
    last = {who: x for x, step in enumerate(steps) for who, _, _ in step.items}
    first = {who: x for x, step in reversed(list(enumerate(steps))) for who, _, _ in step.items}
    order = sorted(first)
    figure, (axis,) = new_figure(width=7.5, height=0.42 * len(order) + 0.8)
    for y, who in enumerate(order):
        grey = last[who] - first[who] + 1
        axis.barh(y, grey, left=first[who], height=0.8, color=PALETTE["pale"])
        for x, step in enumerate(steps):
            counts = [count for other, count, _ in step.items if other == who]
            if counts:
                _draw_cell(axis, x, y, SERIES[who % len(SERIES)], counts[0])
            if who in step.preempted:
                axis.plot(x + 0.5, y, "X", color=PALETTE["vermilion"], markersize=10)
    axis.set_yticks(range(len(order)), [letter(who) for who in order])
    axis.set(xlabel="step", xlim=(0, len(steps)), ylim=(len(order) - 0.5, -0.5))
    gone = [f"{letter(w)} in step {x}" for x, step in enumerate(steps) for w in step.preempted]
    said = (
        f"{len(order)} requests over {len(steps)} steps. Preempted: {', '.join(gone) or 'nobody'}."
    )
    return Picture(figure, alt or said)


def _draw_cell(axis, x: int, y: int, color: str, count: int) -> None:
    hatch = dict(hatch="////", edgecolor="white") if count > 1 else dict(edgecolor="white")
    axis.barh(y, 1, left=x, height=0.8, color=color, linewidth=0.6, **hatch)
    if count > 1:
        back = dict(boxstyle="round,pad=0.1", facecolor=color, linewidth=0)
        place = dict(ha="center", va="center", fontsize=7, color=ink(color), bbox=back)
        axis.text(x + 0.5, y, str(count), **place)


def prefix_tree(tables: Mapping[int, Sequence[int]], alt: str = "") -> Picture:
    """Block tables as a tree: a block that several requests hold is drawn once, in stripes.

    tables: request id -> its block ids. The number is the block id, the letters are its holders.
    """
    holders: dict[int, list[int]] = {}
    for who, table in tables.items():
        for block in table:
            holders.setdefault(block, []).append(who)
    rows = {who: y for y, who in enumerate(tables)}
    place = {}  # block -> (column, row): a shared one stands in the middle of its holders' rows
    for table in tables.values():
        for x, block in enumerate(table):
            place[block] = (x, sum(rows[who] for who in holders[block]) / len(holders[block]))
    columns = max(map(len, tables.values()))
    figure, (axis,) = new_figure(
        width=min(0.95 * columns + 1.0, 7.5), height=0.62 * len(rows) + 0.3
    )
    for who, table in tables.items():
        for one, two in zip(table, table[1:]):
            axis.plot(*zip(place[one], place[two]), color=PALETTE["grey"], linewidth=1.5, zorder=0)
        axis.text(len(table) - 0.45, rows[who], letter(who), va="center", weight="bold")
    for block, at in place.items():
        _draw_node(axis, *at, block, holders[block])
    axis.set(xlim=(-0.6, columns), ylim=(len(rows) - 0.4, -0.6))
    axis.axis("off")
    shared = [f"block {b} by {' '.join(map(letter, who))}" for b, who in holders.items() if who[1:]]
    said = f"{len(rows)} requests, {len(place)} blocks. Shared: {', '.join(shared) or 'none'}."
    return Picture(figure, alt or said)


def _draw_node(axis, x: float, y: float, block: int, holders: Sequence[int]) -> None:
    from matplotlib.patches import Rectangle

    shared = len(holders) > 1
    color = SERIES[holders[0] % len(SERIES)]
    look = dict(hatch="////", edgecolor="white") if shared else dict(edgecolor="black")
    axis.add_patch(
        Rectangle((x - 0.36, y - 0.3), 0.72, 0.6, facecolor=color, linewidth=0.8, **look)
    )
    back = dict(boxstyle="round,pad=0.12", facecolor=color, linewidth=0)
    names = "".join(map(letter, holders)) if shared else ""
    text = f"{block}\n{names}" if shared else str(block)
    axis.text(x, y, text, ha="center", va="center", fontsize=8, color=ink(color), bbox=back)
