"""Pictures of chapter 06: the K/V pool slot by slot, as a real engine holds it after a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from minillm.show.canvas import PALETTE, SERIES, Picture, ink, new_figure
from minillm.show.memory import Block, letter
from minillm.show.widget import Widget, widget

EMPTY = "#FFFFFF"


def blocks_of(llm) -> list[Block]:
    """Every block of an LLM's pool, as its block manager has it now (owner: the lowest id)."""
    size, found = llm.config.block_size, {}
    for request in sorted(llm.scheduler.running, key=lambda r: r.id):
        for place, block in enumerate(llm.blocks.table(request.id)):
            filled = min(size, max(0, request.num_computed - place * size))
            owner, most = found.get(block, (request.id, 0))
            found[block] = owner, max(most, filled)
    refs = llm.blocks.refs
    return [
        Block(*found[i], size, refs[i]) if i in found else Block(None, 0, size)
        for i in range(llm.config.num_blocks)
    ]


def pool_map(blocks: Sequence[Block], columns: int = 64, alt: str = "") -> Picture:
    """The pool, one small square a slot, in rows of `columns`. All blocks are equally large.

    Colour and letter: request; digit: reference count where it is above 1; hatch: reserved but
    empty; stripes: shared; white: free. Below: tokens / reserved slots, and the share that is
    empty. Raises ValueError if a row would end inside a block, or a block inside a row.
    """
    size = blocks[0].size
    if size % columns and columns % size:
        raise ValueError(f"blocks of {size} slots do not fit into rows of {columns}")
    rows = -(-len(blocks) * size // columns)
    figure, (axis,) = new_figure(width=7.5, height=7.3 * rows / columns + 0.6)
    for number, block in enumerate(blocks):
        _draw(axis, number * size, block, columns)
    axis.set(xlim=(-0.3, columns + 0.3), ylim=(rows + 0.3, -0.3), aspect="equal")
    axis.axis("off")
    used = [b for b in blocks if b.request is not None]
    room, held = sum(b.size for b in used), sum(b.filled for b in used)
    waste = 1 - held / room if room else 0.0
    figure.supxlabel(f"{held} / {room}    {waste:.0%}", fontsize=17, weight="bold")
    shared = sum(b.references > 1 for b in used)
    # a shared block names one of its owners only: there are at least as many as its references
    people = max([len({b.request for b in used}), *(b.references for b in used)])
    said = f"A pool of {len(blocks)} blocks of {size} slots, {len(used)} in use, "
    said += f"{people} owner{'s' * (people != 1)}. "
    said += f"{held} of {room} reserved slots hold a token, {waste:.0%} are empty"
    blocks_are = f"{shared} blocks are" if shared > 1 else "1 block is"
    return Picture(figure, alt or said + (f"; {blocks_are} shared." if shared else "."))


def _draw(axis, start: int, block: Block, columns: int) -> None:
    """One block: its full part, its empty part, its border, its name."""
    end, full = start + block.size, start + block.filled
    edge = dict(edgecolor="black", linewidth=0.5 if block.size > 1 else 0.2)
    if block.request is None:
        _area(axis, start, end, columns, facecolor=EMPTY, **edge | {"edgecolor": PALETTE["grey"]})
        return
    color = SERIES[block.request % len(SERIES)]
    look = dict(facecolor=color, linewidth=0)
    if block.references > 1:
        look |= dict(hatch="////", edgecolor="white")
    _area(axis, start, full, columns, **look)
    hatch = dict(facecolor=EMPTY, hatch="....", edgecolor=PALETTE["grey"], linewidth=0)
    _area(axis, full, end, columns, **hatch)
    _area(axis, start, end, columns, fill=False, **edge)
    if block.size >= 4:
        name = letter(block.request) + (str(block.references) if block.references > 1 else "")
        x, y = start % columns + min(block.size, columns) / 2, start // columns + 0.5
        y += (block.size // columns - 1) / 2 if block.size > columns else 0
        back = dict(boxstyle="round,pad=0.1", facecolor=color, linewidth=0)
        place = dict(ha="center", va="center", fontsize=7, color=ink(color), bbox=back)
        axis.text(x, y, name, **place)


def _area(axis, start: int, end: int, columns: int, **look) -> None:
    """Slots start .. end - 1 as rectangles: whole rows in one, the rest row by row."""
    from matplotlib.patches import Rectangle

    while start < end:
        x, y = start % columns, start // columns
        whole = (end - start) // columns if x == 0 else 0
        count = whole * columns or min(end - start, columns - x)
        wide, high = (columns, whole) if whole else (count, 1)
        axis.add_patch(Rectangle((x, y), wide, high, **look))
        start += count


def block_size_slider(
    engine_at: Callable[[int], object], sizes: Sequence[int], columns: int = 64
) -> Widget:
    """The same requests after the same number of steps, in blocks of each size.

    engine_at: block size -> an LLM that has run; the saved twin shows the first, the middle and
    the last size.
    """
    return widget(lambda size: pool_map(blocks_of(engine_at(size)), columns), sizes, "block_size")
