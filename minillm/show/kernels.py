"""Pictures of a GPU kernel: which program touches which elements, which bytes a load really moves.

What is drawn comes from a run: let every program write its own number, and hand the result over.
"""

from __future__ import annotations

from collections.abc import Sequence

from minillm.show.canvas import PALETTE, SERIES, Picture, ink, new_figure, short

SECTOR = 8  # fp32 numbers in 32 bytes, the least that a GPU moves


def programs(
    owner: Sequence[Sequence[int | None]],
    masked: Sequence[Sequence[bool]] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    alt: str = "",
) -> Picture:
    """Elements as cells: colour and number say which program wrote them; None: nobody.

    masked: cells that exist only as lanes of a program and lie outside: hatched, with its number.
    """
    rows, columns = len(owner), max(map(len, owner))
    size = min(0.42, 7.0 / columns)
    figure, (axis,) = new_figure(width=7.5, height=size * rows + 0.75)
    for y, row in enumerate(owner):
        for x, who in enumerate(row):
            hidden = bool(masked and masked[y][x])
            _cell(axis, x, y, who, hidden, size > 0.2)
    axis.set(xlim=(-0.1, columns + 0.1), ylim=(rows + 0.1, -0.1), aspect="equal")
    axis.set(xlabel=xlabel, ylabel=ylabel)
    step = 1 if columns <= 16 else 4 if columns <= 64 else 16
    axis.set_xticks([x + 0.5 for x in range(0, columns, step)], range(0, columns, step))
    named = range(rows) if rows > 1 else ()
    axis.set_yticks([y + 0.5 for y in named], named)
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.tick_params(length=0)
    return Picture(figure, alt or _said(owner, masked))


def _said(owner, masked) -> str:
    flat = [who for row in owner for who in row]
    hidden = sum(sum(map(bool, row)) for row in masked or ())
    nobody = sum(who is None for who in flat)
    known = len({who for who in flat if who is not None})
    return (
        f"{len(flat) - hidden} elements written by {known} programs; {hidden} lanes are masked, "
        f"{nobody} elements are nobody's."
    )


def _cell(axis, x: float, y: float, who: int | None, hidden: bool, numbered: bool) -> None:
    from matplotlib.patches import Rectangle

    color = PALETTE["pale"] if who is None else SERIES[who % len(SERIES)]
    look = dict(facecolor=color, edgecolor="white", linewidth=0.8)
    if hidden:
        look = dict(facecolor="white", edgecolor=color, hatch="////", linewidth=0.8)
    axis.add_patch(Rectangle((x, y), 1, 1, **look))
    if who is not None and numbered:
        text = dict(ha="center", va="center", fontsize=7)
        back = dict(boxstyle="round,pad=0.1", facecolor="white", linewidth=0)
        shown = dict(color="black", bbox=back) if hidden else dict(color=ink(color))
        axis.text(x + 0.5, y + 0.5, str(who), **text, **shown)


def sectors(
    loads: dict[str, Sequence[int]], length: int, sector: int = SECTOR, alt: str = ""
) -> Picture:
    """One load each: where its lanes read in memory, and the sectors that are moved for it.

    loads: name -> element numbers, one a lane. length: elements of memory to draw. At the right:
    numbers used / numbers moved.
    """
    figure, (axis,) = new_figure(width=7.5, height=0.55 * len(loads) + 0.7)
    said = []
    for y, (name, places) in enumerate(loads.items()):
        moved = moved_sectors(places, sector)
        for s in moved:
            axis.barh(y, sector, left=s * sector, height=0.62, color=PALETTE["sky"])
        axis.barh([y] * len(places), 1, left=list(places), height=0.62, color=PALETTE["black"])
        used, all_ = len(set(places)), len(moved) * sector
        axis.text(length * 1.01, y, f"{used} / {all_}", va="center", weight="bold", fontsize=9)
        said.append(f"{name}: {used} numbers used, {all_} moved")
    for border in range(0, length + 1, sector):
        axis.axvline(border, color=PALETTE["pale"], linewidth=0.8, zorder=0)
    axis.set_yticks(range(len(loads)), list(loads))
    axis.set(xlim=(0, length * 1.12), ylim=(len(loads) - 0.5, -0.5))
    axis.set_xticks(range(0, length + 1, max(sector, length // 8)))
    return Picture(figure, alt or "Loads of one block. " + "; ".join(said) + ".")


def moved_sectors(places: Sequence[int], sector: int = SECTOR) -> list[int]:
    """The sectors that a load of these elements moves, each once."""
    return sorted({int(place) // sector for place in places})


def tree(values: Sequence[float], alt: str = "") -> Picture:
    """A sum in halves: every row adds pairs of the row above, until one number is left."""
    levels = [list(values)]
    while len(levels[-1]) > 1:
        row = levels[-1] + [0] * (len(levels[-1]) % 2)
        half = len(row) // 2
        levels.append([a + b for a, b in zip(row[:half], row[half:])])
    figure, (axis,) = new_figure(width=7.5, height=0.5 * len(levels) + 0.1)
    for y, row in enumerate(levels):
        for x, value in enumerate(row):
            _cell(axis, x, 1.9 * y, None, False, False)
            axis.text(x + 0.5, 1.9 * y + 0.5, short(value), ha="center", va="center", fontsize=8)
            if y:
                for start in (x, x + len(row)):
                    if start < len(levels[y - 1]):
                        ends = ((start + 0.5, x + 0.5), (1.9 * y - 0.9, 1.9 * y))
                        axis.plot(*ends, color=PALETTE["blue"], linewidth=1)
    axis.set(xlim=(-0.1, len(values) + 0.1), ylim=(1.9 * len(levels), -0.1))
    axis.axis("off")
    steps = len(levels) - 1
    return Picture(figure, alt or f"{len(values)} numbers are added up in {steps} steps of halves.")
