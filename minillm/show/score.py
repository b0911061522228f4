"""Pictures of how well you predict, and the table of what every chapter gained."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from minillm.show.canvas import PALETTE, SERIES, Picture, new_figure


def calibration_plot(
    predictions: Sequence[tuple[str, float, float, float]], alt: str = ""
) -> Picture:
    """Your guesses against what was measured: (id, guess, measured, |log2(guess / measured)|).

    On the line the guess was right; the pale band is a factor of 2 either way.
    """
    figure, (axis,) = new_figure(width=4.2, height=3.6)
    values = [v for _, guess, measured, _ in predictions for v in (guess, measured)] or [1, 10]
    low, high = min(values) / 3, max(values) * 3
    ends = (low, high)
    axis.fill_between(ends, [v / 2 for v in ends], [v * 2 for v in ends], color=PALETTE["pale"])
    axis.loglog(ends, ends, color="black", linewidth=1)
    for name, guess, measured, score in predictions:
        far = score > 1
        color, mark = (PALETTE["vermilion"], "X") if far else (SERIES[0], "o")
        axis.plot(measured, guess, mark, color=color, markersize=8, markeredgecolor="white")
        axis.annotate(name, (measured, guess), (6, -3), textcoords="offset points", fontsize=8)
    axis.set(xlim=ends, ylim=ends, xlabel="measured", ylabel="guess")
    said = [f"{n}: guess {g:.3g}, measured {m:.3g}, off by 2^{s:.1f}" for n, g, m, s in predictions]
    return Picture(
        figure, alt or "Guesses against measurements. " + "; ".join(said or ["none yet"])
    )


@dataclass(frozen=True)
class Table:
    """A table that a notebook shows as HTML and a terminal as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], bool], ...]  # (cells, is it the learner's own?)
    note: str = ""

    def __repr__(self) -> str:
        lines = [self.columns, *(cells for cells, _ in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        pad = lambda line: "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(line, widths))
        )
        text = [pad(self.columns).rstrip()]
        text += [pad(cells) + ("  <- yours" if own else "") for cells, own in self.rows]
        return "\n".join([*text, *([self.note] if self.note else [])])

    def _repr_html_(self) -> str:
        head = _html_cells("th", self.columns)
        body = "".join(self._html_row(cells, own) for cells, own in self.rows)
        note = f"<p style='color:#767676'>{html.escape(self.note)}</p>" if self.note else ""
        return f"<table><tr>{head}</tr>{body}</table>{note}"

    def _html_row(self, cells: tuple[str, ...], own: bool) -> str:
        look = f"color:{PALETTE['blue']};font-weight:bold" if own else "color:#767676"
        return f"<tr style='{look}'>{_html_cells('td', cells)}</tr>"


def _html_cells(tag: str, cells: Sequence[str]) -> str:
    """The first cell is a name, the others are numbers: aligned right."""
    side = lambda i: "right" if i else "left"
    return "".join(
        f"<{tag} style='text-align:{side(i)}'>{html.escape(c)}</{tag}>" for i, c in enumerate(cells)
    )


def scoreboard(rows: Sequence = ()) -> Table:
    """Your rows in colour, the project's recorded rows in grey under them.

    rows: what scoreboard.run returned; only needed for rows that are not kept (fast mode).
    """
    from minillm.scoreboard_rows import table

    return table(rows)
