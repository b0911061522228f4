"""Pictures of chapter 05: who sits where in every step, and what waiting costs at each load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from minillm.show.canvas import PALETTE, Picture, new_figure, short, style
from minillm.show.memory import timelines

Steps = Sequence[Iterable[int]]  # for each step, the requests that worked in it


def seat_rows(steps: Steps, seats: int) -> list[list[int | None]]:
    """For each seat, who sat there at every step (None: nobody).

    A request takes the lowest free seat at its first step and keeps it until its last one; of
    several that come in one step the lowest number first.
    Raises ValueError if more requests than seats work at the same time.
    """
    steps = [sorted(set(step)) for step in steps]
    last = {who: number for number, step in enumerate(steps) for who in step}
    rows, seat_of = [[None] * len(steps) for _ in range(seats)], {}
    for number, step in enumerate(steps):
        for who in step:
            if who not in seat_of:
                free = [s for s in range(seats) if s not in seat_of.values()]
                if not free:
                    raise ValueError(f"step {number}: no seat of {seats} is free for {who}")
                seat_of[who] = free[0]
        for who, seat in seat_of.items():
            rows[seat][number] = who
        seat_of = {who: seat for who, seat in seat_of.items() if last[who] > number}
    return rows


def batches(runs: Mapping[str, Steps], seats: int, alt: str = "") -> Picture:
    """Seats x steps of several runs of the same requests on one clock, idle cells grey.

    runs: name -> for each step the requests that worked in it, as an engine's events say.
    """
    rows = [seat_rows(steps, seats) for steps in runs.values()]
    made = timelines(rows, list(runs), alt=alt)
    for axis in made.figure.axes:
        axis.yaxis.label.set_horizontalalignment("right")  # names may be longer than a letter
    return made


def latency(
    x: Sequence[float],
    ttft: Mapping[str, Sequence[float]],
    tpot: Mapping[str, Sequence[float]],
    xlabel: str,
    limits: tuple[float | None, float | None] = (None, None),
    alt: str = "",
) -> Picture:
    """TTFT in s (left, logarithmic) and TPOT in ms (right, from 0) over one logarithmic x.

    ttft, tpot: line -> seconds at each x. limits: (s, ms), dashed lines.
    """
    figure, axes = new_figure(2, width=7.5, height=2.9)
    milli = {name: [1e3 * v for v in values] for name, values in tpot.items()}
    said = []
    for axis, series, what, limit in zip(axes, (ttft, milli), ("TTFT, s", "TPOT, ms"), limits):
        for i, (name, values) in enumerate(series.items()):
            axis.plot(x, values, **style(i), markersize=5, label=name)
            ends = f"{short(values[0])} at {short(x[0])} to {short(values[-1])} at {short(x[-1])}"
            said.append(f"{what} {name}: {ends}")
        if limit is not None:
            axis.axhline(limit, color=PALETTE["vermilion"], linestyle="--", linewidth=1.5)
        axis.set(xlabel=xlabel, ylabel=what, xscale="log")
        axis.set_xticks(x, [short(v) for v in x])
        axis.set_xticks([], minor=True)
        axis.legend(fontsize=8, frameon=False)
    _plain_log(axes[0])
    axes[1].set_ylim(bottom=0)
    return Picture(figure, alt or f"Over {xlabel}. " + "; ".join(said) + ".")


def _plain_log(axis) -> None:
    """A logarithmic y axis with 1, 2, 5, 10, 20 ... as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axis.yaxis.set_minor_formatter(NullFormatter())
