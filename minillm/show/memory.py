"""Pictures of who holds what: seats of a GPU, seats over time, blocks of a cache, a layer."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from minillm.clock import matrices
from minillm.config import ModelConfig
from minillm.show.canvas import PALETTE, SERIES, Picture, ink, new_figure, short

LETTERS = string.ascii_uppercase + string.ascii_lowercase


def letter(request: int) -> str:
    """The name of a request inside a picture: colours repeat after seven, letters do not."""
    return LETTERS[request % len(LETTERS)]


def timelines(
    runs: Sequence[Sequence[Sequence[int | None]]],
    names: Sequence[str] = (),
    xlabel: str = "step",
    alt: str = "",
) -> Picture:
    """Seats x steps of several runs on one clock: which request sat where, idle cells grey.

    runs: for each run, for each seat, the request at every step (None: idle). The number at the
    right is the share of idle cells until the run's last step.
    """
    steps = max(len(seat) for run in runs for seat in run)
    seats = sum(len(run) for run in runs)
    size = dict(width=7.5, height=0.28 * seats + 0.45 * len(runs) + 0.5)
    figure, axes = new_figure(rows=len(runs), sharex=True, **size)
    said = []
    for i, (axis, run) in enumerate(zip(axes, runs)):
        idle, end = _draw_seats(axis, run)
        axis.text(steps + 0.3, (len(run) - 1) / 2, f"{idle:.0%}", va="center", weight="bold")
        axis.set(ylim=(len(run) - 0.5, -0.5), xlim=(0, steps * 1.08))
        axis.set_yticks(range(len(run)))
        axis.set_ylabel(names[i] if names else f"{i + 1}", rotation=0, labelpad=12, va="center")
        said.append(f"{names[i] if names else i + 1}: {end} steps, {idle:.0%} of the cells idle")
    axes[-1].set_xlabel(xlabel)
    return Picture(figure, alt or f"{len(runs)} timelines of seats. " + "; ".join(said) + ".")


def _draw_seats(axis, run: Sequence[Sequence[int | None]]) -> tuple[float, int]:
    """-> (share of idle cells, steps)."""
    end = max((i + 1 for seat in run for i, who in enumerate(seat) if who is not None), default=0)
    idle = 0
    for y, seat in enumerate(run):
        seat = [*seat, *[None] * end][:end]
        idle += seat.count(None)
        start = 0
        for x in range(1, end + 1):  # one bar a stretch of the same request
            if x == end or seat[x] != seat[start]:
                _stretch(axis, y, start, x - start, seat[start])
                start = x
    return idle / max(1, end * len(run)), end


def _stretch(axis, y: int, start: int, length: int, who: int | None) -> None:
    color = PALETTE["pale"] if who is None else SERIES[who % len(SERIES)]
    axis.barh(y, length, left=start, height=0.86, color=color, edgecolor="white", linewidth=1)
    if who is not None:
        text = dict(ha="center", va="center", fontsize=7, color=ink(color))
        axis.text(start + length / 2, y, letter(who), **text)


@dataclass(frozen=True)
class Block:
    """One block of the cache as a picture sees it."""

    request: int | None  # the owner (the first, when several share it); None: free
    filled: int  # tokens really held
    size: int  # tokens it has room for
    references: int = 1  # requests that use it


def block_map(blocks: Sequence[Block], columns: int = 16, alt: str = "") -> Picture:
    """The pool as a grid. Colour and letter: request; digit: reference count where it is above 1;
    hatch: reserved but empty; stripes: shared; white: free. Below: the share that is waste."""
    columns = min(columns, len(blocks))
    rows = -(-len(blocks) // columns)
    figure, (axis,) = new_figure(width=0.46 * columns + 0.3, height=0.46 * rows + 0.55)
    for i, block in enumerate(blocks):
        _draw_block(axis, i % columns, i // columns, block)
    axis.set(xlim=(-0.05, columns + 0.05), ylim=(rows + 0.05, -0.05), aspect="equal")
    axis.axis("off")
    used = [b for b in blocks if b.request is not None]
    room, held = sum(b.size for b in used), sum(b.filled for b in used)
    waste = 1 - held / room if room else 0.0
    figure.supxlabel(f"{held} / {room}    {waste:.0%}", fontsize=15, weight="bold")
    said = f"{len(blocks)} blocks, {len(used)} in use; {held} of {room} reserved tokens are held"
    shared = sum(b.references > 1 for b in used)
    return Picture(figure, alt or f"{said}, {waste:.0%} is waste; {shared} blocks are shared.")


def _draw_block(axis, x: int, y: int, block: Block) -> None:
    from matplotlib.patches import Rectangle

    edge = dict(edgecolor="black", linewidth=0.8)
    if block.request is None:
        axis.add_patch(Rectangle((x + 0.04, y + 0.04), 0.92, 0.92, facecolor="white", **edge))
        return
    color, share = SERIES[block.request % len(SERIES)], block.filled / block.size
    empty = dict(facecolor="white", hatch="....", edgecolor=PALETTE["grey"], linewidth=0)
    axis.add_patch(Rectangle((x + 0.04, y + 0.04), 0.92, 0.92, **empty))
    full = dict(facecolor=color, linewidth=0)
    if block.references > 1:
        full |= dict(hatch="////", edgecolor="white")
    axis.add_patch(Rectangle((x + 0.04, y + 0.04), 0.92 * share, 0.92, **full))
    axis.add_patch(Rectangle((x + 0.04, y + 0.04), 0.92, 0.92, fill=False, **edge))
    name = letter(block.request) + (str(block.references) if block.references > 1 else "")
    back = dict(boxstyle="round,pad=0.12", facecolor=color, linewidth=0)
    place = dict(ha="center", va="center", fontsize=8, bbox=back, color=ink(color))
    axis.text(x + 0.5, y + 0.5, name, **place)


@dataclass(frozen=True)
class Load:
    """One bar of `seats`, in bytes."""

    name: str
    weights: float
    slack: float  # for activations and whatever else must stay free
    request: float  # K and V of one request


def seats(memory: float, loads: Sequence[Load], most: int = 64, alt: str = "") -> Picture:
    """What fits on a device: weights grey, slack hatched, then one tile a request; overflow red.

    memory: bytes. The number at the right is how many requests fit (0: not even the weights).
    """
    figure, (axis,) = new_figure(width=7.5, height=0.62 * len(loads) + 0.8)
    said, giga = [], 1e9
    widest = max(memory, *(load.weights + load.slack for load in loads)) / giga
    for y, load in enumerate(loads):
        fits = seats_of(memory, load)
        _draw_load(axis, y, load, memory, min(fits, most))
        axis.text(widest * 1.02, y, str(fits), va="center", fontsize=14, weight="bold")
        said.append(f"{load.name}: {short(load.weights / giga)} GB of weights, {fits} requests fit")
    axis.axvline(memory / giga, color="black", linewidth=2)
    axis.set_yticks(range(len(loads)), [load.name for load in loads])
    axis.set(ylim=(len(loads) - 0.5, -0.5), xlim=(0, widest * 1.1), xlabel="GB")
    return Picture(
        figure, alt or f"A device of {short(memory / giga)} GB. " + "; ".join(said) + "."
    )


def seats_of(memory: float, load: Load) -> int:
    """Requests that fit beside weights and slack."""
    return max(0, int((memory - load.weights - load.slack) // load.request))


def _draw_load(axis, y: int, load: Load, memory: float, tiles: int) -> None:
    giga = 1e9
    bar = lambda left, right, **look: axis.barh(
        y, max(0, right - left) / giga, left=left / giga, height=0.62, **look
    )
    weights, slack = load.weights, load.weights + load.slack
    bar(0, min(weights, memory), color=PALETTE["grey"])
    bar(weights, min(slack, memory), color="white", hatch="////", edgecolor=PALETTE["grey"])
    bar(memory, slack, color=PALETTE["vermilion"], hatch="xx", edgecolor="white")
    for i in range(tiles):
        left = slack + i * load.request
        bar(left, left + load.request, color=SERIES[0], edgecolor="white", linewidth=0.8)


def layer_map(
    config: ModelConfig, values: Mapping[str, str] | None = None, alt: str = ""
) -> Picture:
    """The matrices of one layer and the head, drawn to scale: width is `in`, height is `out`.

    values: matrix name -> a short text to write below it (default: its shape). A head taller
    than the picture is cut: two white lines show where.
    """
    found = matrices(config)
    tallest = max(m.out for m in found if m.name != "head")
    scale = min(2.0 / tallest, 4.0 / sum(m.in_ for m in found))  # inches a row or column
    figure, (axis,) = new_figure(width=7.5, height=scale * tallest + 0.9)
    left = 0.0
    for i, matrix in enumerate(found):
        text = (values or {}).get(matrix.name, f"{matrix.out}\u00d7{matrix.in_}")
        wide = max(scale * matrix.in_, 0.95)  # the text below needs this much
        _draw_matrix(axis, left + wide / 2, matrix, scale, scale * tallest * 1.1, SERIES[i], text)
        left += wide + 0.3
    axis.set(xlim=(-0.1, left), ylim=(-scale * tallest - 0.5, 0.3), aspect="equal")
    axis.axis("off")
    said = ", ".join(f"{m.name} {m.out} x {m.in_} ({m.count} of them)" for m in found)
    return Picture(figure, alt or f"The matrices to scale: {said}.")


def _draw_matrix(axis, middle: float, matrix, scale: float, most: float, color, text: str):
    from matplotlib.patches import Rectangle

    wide, high = scale * matrix.in_, scale * matrix.out
    shown = min(high, most)
    axis.add_patch(Rectangle((middle - wide / 2, -shown), wide, shown, facecolor=color))
    if high > most:  # two white lines: cut off here
        for up in (0.08, 0.14):
            ends = (middle - wide / 2, middle + wide / 2)
            axis.plot(ends, (up - shown, up + 0.04 - shown), color="white", linewidth=2)
    axis.text(middle, 0.08, f"{matrix.name} \u00d7{matrix.count}", ha="center", fontsize=8)
    axis.text(middle, -shown - 0.18, text, ha="center", fontsize=8)
