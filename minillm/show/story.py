"""The picture of the story: speed, memory under one budget and quality, a line for every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minillm.show.canvas import PALETTE, SERIES, Picture, new_figure, short

WEIGHTS, CACHE, PEER = SERIES[0], PALETTE["orange"], PALETTE["grey"]


def story_bars(
    rows: Sequence[Mapping], budget: float, peers: Sequence[Mapping] = (), alt: str = ""
) -> Picture:
    """Left: tokens/s of all requests (bar, number) and of one user (diamond). Middle: bytes of
    weights and of K/V, the budget as a line, requests at once as a number. Right: perplexity.

    rows: with name, tokens_per_s, one_user, weight_bytes, cache_bytes, at_once, perplexity; of
    peers, drawn in grey, name and tokens_per_s, of some also one_user.
    """
    names = [row["name"] for row in (*rows, *peers)]
    figure, axes = new_figure(3, width=9.6, height=0.3 * len(names) + 1.0, sharey=True)
    _speed(axes[0], rows, peers)
    _held(axes[1], rows, budget)
    axes[2].plot([row["perplexity"] for row in rows], range(len(rows)), "o", color=SERIES[2])
    axes[2].set(xlabel="perplexity")
    axes[2].margins(x=0.15)
    axes[0].set(ylim=(len(names) - 0.4, -0.6))
    axes[0].set_yticks(range(len(names)), names)
    for axis in axes:
        axis.set_axisbelow(True)
        axis.grid(axis="y", color=PALETTE["pale"], linewidth=0.8)
    said = [f"{row['name']} {short(row['tokens_per_s'])}" for row in (*rows, *peers)]
    held = [
        f"{row['name']} {(row['weight_bytes'] + row['cache_bytes']) / 1e6:.0f} MB, "
        f"{row['at_once']} at once, perplexity {row['perplexity']:.3f}"
        for row in rows
    ]
    text = f"Tokens/s: {'; '.join(said)}. Budget {budget / 1e6:.0f} MB: {'; '.join(held)}."
    return Picture(figure, alt or text)


def _speed(axis, rows: Sequence[Mapping], peers: Sequence[Mapping]) -> None:
    everyone = [*rows, *peers]
    colors = [WEIGHTS] * len(rows) + [PEER] * len(peers)
    values = [row["tokens_per_s"] for row in everyone]
    axis.barh(range(len(everyone)), values, height=0.7, color=colors)
    for y, value in enumerate(values):
        axis.annotate(short(round(value, 1)), (1, y), (3, 0), va="center", fontsize=8,
                      xycoords=("axes fraction", "data"), textcoords="offset points")  # fmt: skip
    users = [(row["one_user"], y) for y, row in enumerate(everyone) if "one_user" in row]
    axis.plot(*zip(*users), "D", color=PALETTE["yellow"], markeredgecolor="black", markersize=4.5,
              linestyle="none")  # fmt: skip
    axis.set(xlabel="tokens/s")


def _held(axis, rows: Sequence[Mapping], budget: float) -> None:
    weights = [row["weight_bytes"] / 1e6 for row in rows]
    cache = [row["cache_bytes"] / 1e6 for row in rows]
    places = range(len(rows))
    axis.barh(places, weights, height=0.7, color=WEIGHTS)
    axis.barh(places, cache, left=weights, height=0.7, color=CACHE, hatch="////", edgecolor="white",
              linewidth=0)  # fmt: skip
    axis.axvline(budget / 1e6, color=PALETTE["vermilion"], linestyle="--", linewidth=1)
    for y, row in enumerate(rows):
        axis.annotate(str(row["at_once"]), (budget / 1e6, y), (4, 0), textcoords="offset points",
                      va="center", fontsize=8)  # fmt: skip
    axis.set(xlabel="MB", xlim=(0, budget / 1e6 * 1.15))
