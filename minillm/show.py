"""Pictures for the notebooks: one palette, readable in grey and by the colour-blind.

Numbers and symbols stand inside a picture, words in its caption below (not every machine has a
font for every script). Every function returns a matplotlib Figure.
"""

from __future__ import annotations

from collections.abc import Sequence

# Okabe & Ito (2008): eight colours that stay apart for the colour-blind, dark to light in grey.
PALETTE = {
    "black": "#000000",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "yellow": "#F0E442",
    "grey": "#9A9A9A",
}


def new_figure(columns: int = 1, width: float = 7.5, height: float = 2.6):
    """A row of `columns` empty panels without top and right border -> (Figure, list of Axes)."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, columns, figsize=(width, height), squeeze=False)
    for axis in axes[0]:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, list(axes[0])


def next_token_bars(panels: Sequence[Sequence[tuple[str, float]]], titles: Sequence[str]):
    """The likeliest next tokens, one panel a position, as bars of probability.

    panels: for each position a list of (token text, probability), likeliest first. The likeliest
    bar is blue, the others grey; each carries its percentage.
    """
    figure, axes = new_figure(len(panels), width=2.5 * len(panels) + 0.5)
    for axis, bars, title in zip(axes, panels, titles):
        labels = [visible(text) for text, _ in bars]
        values = [100 * p for _, p in bars]
        colors = [PALETTE["blue"]] + [PALETTE["grey"]] * (len(bars) - 1)
        places = range(len(bars))
        axis.barh(places, values, color=colors)
        for place, value in zip(places, values):
            axis.text(value + 2, place, f"{value:.1f}%", va="center", fontsize=8)
        axis.set_yticks(places, labels, family="monospace")
        axis.invert_yaxis()
        axis.set_xlim(0, 130)
        axis.set_xticks([0, 50, 100])
        axis.set_title(title, fontsize=9, family="monospace")
    figure.tight_layout()
    return figure


def visible(text: str) -> str:
    """A token's text with its spaces and line ends made visible; other scripts as U+ codes."""
    text = text.replace(" ", "\u2423").replace("\n", "\u21b5")
    known = all(ord(c) < 0x0250 or c in "\u2423\u21b5" for c in text)
    return text if known else " ".join(f"U+{ord(c):04X}" for c in text)
