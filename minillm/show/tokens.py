"""Pictures of what a model says and looks at: next tokens, and a matrix with its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from minillm.show.canvas import PALETTE, Picture, ink, new_figure

PLAIN = dict(family="monospace", parse_math=False)  # a token may hold a $


def next_token_bars(
    panels: Sequence[Sequence[tuple[str, float]]], titles: Sequence[str], alt: str = ""
) -> Picture:
    """The likeliest next tokens, one panel a position, as bars of probability.

    panels: for each position a list of (token text, probability), likeliest first. The likeliest
    bar is blue, the others grey; each carries its percentage.
    """
    figure, axes = new_figure(len(panels), width=2.5 * len(panels) + 0.5)
    for axis, bars, title in zip(axes, panels, titles):
        values = [100 * p for _, p in bars]
        colors = [PALETTE["blue"]] + [PALETTE["grey"]] * (len(bars) - 1)
        places = range(len(bars))
        axis.barh(places, values, color=colors)
        for place, value in zip(places, values):
            axis.text(value + 2, place, f"{value:.1f}%", va="center", fontsize=8)
        axis.set_yticks(places, [visible(text) for text, _ in bars], **PLAIN)
        axis.invert_yaxis()
        axis.set_xlim(0, 130)
        axis.set_xticks([0, 50, 100])
        axis.set_title(visible(title), fontsize=9, **PLAIN)
    said = [f"{t}: " + ", ".join(f"{w!r} {p:.0%}" for w, p in b) for t, b in zip(titles, panels)]
    return Picture(figure, alt or "Likeliest next tokens. " + ". ".join(said))


def heatmap(
    values: Sequence[Sequence[float]],
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    masked: Sequence[Sequence[bool]] | None = None,
    format: str = ".2f",
    xlabel: str = "",
    ylabel: str = "",
    alt: str = "",
) -> Picture:
    """A matrix as coloured cells, each with its number: attention weights, a mask, a weight row.

    values: [R][C], white is the lowest and blue the highest. rows, columns: names of the lines.
    masked: [R][C], True where a cell may not be used: grey, with a cross and no number.
    """
    values = [[float(v) for v in row] for row in values]
    count, width = len(values), len(values[0])
    figure, (axis,) = new_figure(width=0.55 * width + 1.2, height=0.36 * count + 0.9)
    hidden = masked if masked is not None else [[False] * width] * count
    used = [v for row, out in zip(values, hidden) for v, o in zip(row, out) if not o]
    low, high = min(used), max(used)
    small = 7 if width <= 14 else 5
    for y, (row, out) in enumerate(zip(values, hidden)):
        for x, (value, is_out) in enumerate(zip(row, out)):
            color = PALETTE["pale"] if is_out else _blue((value - low) / (high - low or 1))
            axis.add_patch(_cell(x, y, color))
            text = "\u00d7" if is_out else f"{value:{format}}"
            axis.text(x, y, text, ha="center", va="center", fontsize=small, color=ink(color))
    axis.set(xlim=(-0.5, width - 0.5), ylim=(count - 0.5, -0.5), xlabel=xlabel, ylabel=ylabel)
    axis.set_xticks(
        range(width), [visible(c) for c in columns] or range(width), rotation=90, **PLAIN
    )
    axis.set_yticks(range(count), [visible(r) for r in rows] or range(count), **PLAIN)
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.tick_params(length=0)
    said = f"A matrix of {count} rows and {width} columns, from {low:{format}} to {high:{format}}"
    return Picture(figure, alt or f"{said}; {count * width - len(used)} cells are masked.")


def _blue(share: float) -> tuple[float, float, float]:
    """White (0) to the palette's blue (1)."""
    from matplotlib.colors import to_rgb

    return tuple(1 - share * (1 - c) for c in to_rgb(PALETTE["blue"]))


def _cell(x: float, y: float, color):
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=color, edgecolor="white", linewidth=1)


def visible(text: str) -> str:
    """A token's text with its spaces and line ends made visible; other scripts as U+ codes."""
    text = str(text).replace(" ", "\u2423").replace("\n", "\u21b5")
    known = all(ord(c) < 0x0250 or c in "\u2423\u21b5" for c in text)
    return text if known else " ".join(f"U+{ord(c):04X}" for c in text)
