"""Pictures of chapter 10: eight codes in one word, and requests that take their seats on a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minillm.show.canvas import PALETTE, SERIES, Picture, ink, new_figure, short
from minillm.show.memory import Load, seats_of
from minillm.show.widget import Widget, widget

GIGA = 1e9
MOST_TILES = 200  # drawn one by one
COLORS = [*SERIES, PALETTE["purple"]]  # one a code of a word


def nibbles(codes: Sequence[int], alt: str = "") -> Picture:
    """Eight codes of 4 bits (above, first one left) and the word of 32 bits that holds them.

    The word is written as numbers are, highest bit left: the first code stands at its right end.
    Below each field: its bits, code + 8. Raises ValueError for other than eight codes of 4 bits.
    """
    if len(codes) != 8 or not all(-8 <= code <= 7 for code in codes):
        raise ValueError(f"a word holds eight codes from -8 to 7, got {list(codes)}")
    figure, (axis,) = new_figure(width=7.5, height=2.3)
    for i, code in enumerate(codes):
        place, color = 7 - i, COLORS[i]
        _box(axis, i, 2.0, f"{code:+d}" if code else "0", color)
        _box(axis, place, 0.0, f"{code + 8:04b}", color)
        axis.plot([i + 0.5, place + 0.5], [2.0, 0.7], color=color, linewidth=1.2)
        axis.text(place + 0.98, -0.28, str(4 * i), ha="right", fontsize=7)  # its lowest bit
        axis.text(i + 0.5, 2.82, str(i), ha="center", fontsize=7)
    axis.set(xlim=(-0.1, 8.1), ylim=(-0.5, 3.1))
    axis.axis("off")
    fields = " ".join(f"{code + 8:04b}" for code in reversed(codes))
    return Picture(
        figure, alt or f"The codes {list(codes)} make the word {fields}, first at right."
    )


def _box(axis, x: float, y: float, text: str, color: str) -> None:
    from matplotlib.patches import Rectangle

    axis.add_patch(Rectangle((x + 0.02, y), 0.96, 0.7, facecolor=color, linewidth=0))
    place = dict(ha="center", va="center", fontsize=11, family="monospace", color=ink(color))
    axis.text(x + 0.5, y + 0.35, text, **place)


def seat_bar(memory: float, load: Load, widest: float | None = None, alt: str = "") -> Picture:
    """One bar is one GPU: weights grey, slack hatched, a tile a request, what is too much red.

    memory, widest: bytes; widest: where the axis ends, the same in all frames of a slider. The
    number in the large type: how many requests fit.
    """
    fits, end = seats_of(memory, load), load.weights + load.slack
    widest = max(widest or 0, memory, end) / GIGA
    figure, (axis,) = new_figure(width=7.5, height=1.5)
    bar = lambda left, right, **look: axis.barh(0, (right - left) / GIGA, left=left / GIGA, **look)
    bar(0, min(load.weights, memory), color=PALETTE["grey"], height=0.8)
    if load.weights < memory:
        edge = dict(color="white", hatch="////", edgecolor=PALETTE["grey"], linewidth=0)
        bar(load.weights, min(end, memory), height=0.8, **edge)
    if end > memory:
        bar(memory, end, color=PALETTE["vermilion"], hatch="xx", edgecolor="white", height=0.8)
        _say(axis, (memory + end) / 2, f"+{short((end - memory) / GIGA)}", PALETTE["vermilion"])
    together = 1 if fits <= MOST_TILES else fits  # thinner tiles nobody could see
    for i in range(fits // together):
        left = end + i * load.request
        bar(left, left + together * load.request, color=SERIES[0], edgecolor="white", height=0.8)
    _say(axis, min(load.weights, memory) / 2, short(load.weights / GIGA), PALETTE["grey"])
    axis.barh(0, memory / GIGA, height=0.8, fill=False, edgecolor="black", linewidth=2)
    axis.text(widest * 1.03, 0, str(fits), va="center", fontsize=26, weight="bold")
    axis.set(xlim=(0, widest * 1.16), ylim=(-0.5, 0.5), yticks=[], xlabel="GB")
    axis.spines["left"].set_visible(False)
    said = f"{short(memory / GIGA)} GB: {short(load.weights / GIGA)} GB of weights, "
    return Picture(figure, alt or said + f"{short(load.slack / GIGA)} of slack, {fits} requests.")


def _say(axis, x: float, text: str, color: str) -> None:
    back = dict(boxstyle="round,pad=0.25", facecolor=color, linewidth=0)
    axis.text(x / GIGA, 0, text, ha="center", va="center", color=ink(color), bbox=back)


def seats_filling(
    memory: float,
    weights: Mapping[str, float],
    slack: float,
    request: float,
    static: Sequence[str] = (),
) -> Widget:
    """The cover of the course: seat_bar with a slider over formats.

    weights: name of the format -> bytes of all weights in it. static: frames of the saved twin.
    """
    loads = {name: Load(name, held, slack, request) for name, held in weights.items()}
    widest = max(load.weights + load.slack for load in loads.values())
    frame = lambda name: seat_bar(memory, loads[name], widest)
    return widget(frame, tuple(loads), "format", static)
