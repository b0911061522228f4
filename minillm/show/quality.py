"""Pictures of chapter 11: which columns matter, what rounding costs, and where a task breaks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from minillm.show.canvas import PALETTE, SERIES, Picture, new_figure, short, style
from minillm.show.score import Table

Point = tuple[float, float]


def fragility(
    panels: Mapping[str, Mapping[str, Mapping[int, float]]],
    floor: float | None = None,
    alt: str = "",
) -> Picture:
    """Share right against bits, many bits at the left: where a line falls, a task breaks.

    panels: title -> {line: {bits: share, 0..1}}, such as one panel a method, one line a task.
    floor: a dashed line, the least that is good enough.
    """
    figure, axes = new_figure(len(panels), width=2.5 * len(panels) + 0.1, height=2.9, sharey=True)
    said = []
    for axis, (title, series) in zip(axes, panels.items()):
        bits = sorted({b for line in series.values() for b in line}, reverse=True)
        for i, (label, line) in enumerate(series.items()):
            shown = [b for b in bits if b in line]
            axis.plot([bits.index(b) for b in shown], [100 * line[b] for b in shown],
                      **style(i), markersize=5, label=label)  # fmt: skip
            ends = ", ".join(f"{b} bits {line[b]:.0%}" for b in shown)
            said.append(f"{title}, {label}: {ends}")
        if floor is not None:
            axis.axhline(100 * floor, color=PALETTE["grey"], linestyle="--", linewidth=1.5)
        axis.set_xticks(range(len(bits)), [str(b) for b in bits])
        axis.set_title(title, fontsize=9)
        axis.set(xlabel="bits", ylim=(-4, 104))
    axes[0].set_ylabel("% right")
    axes[0].legend(fontsize=8, frameon=False, loc="lower left")
    return Picture(figure, alt or "; ".join(said) + ".")


def by_method(rows: Sequence[Mapping]) -> dict[str, dict[str, dict[int, float]]]:
    """Rows of a quality report -> panels of `fragility`: a panel a method, a line a task.

    rows: {"method", "bits", "tasks": {task: share}}; those of the dense model are left out.
    """
    panels: dict = {}
    for row in rows:
        if row["method"] != "fp32":
            for task, share in row["tasks"].items():
                lines = panels.setdefault(row["method"].upper(), {})
                lines.setdefault(task, {})[row["bits"]] = share
    return panels


def by_task(rows: Sequence[Mapping]) -> dict[str, dict[str, dict[int, float]]]:
    """The same rows the other way round: a panel a task, a line a method."""
    panels: dict = {}
    for method, lines in by_method(rows).items():
        for task, line in lines.items():
            panels.setdefault(task, {})[method] = line
    return panels


def channels(sizes: Sequence[float], marked: int = 0, ylabel: str = "mean |x|") -> Picture:
    """How large the inputs of every column are, in their order and sorted; the largest marked."""
    sizes = [float(s) for s in sizes]
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    top, rest = order[:marked], order[marked:]
    figure, axes = new_figure(2, width=7.5, height=2.4, sharey=True)
    for axis, place in zip(axes, (list(range(len(sizes))), _ranks(order))):
        for some, color in ((rest, "blue"), (top, "vermilion")):
            xs, ys = [place[i] for i in some], [sizes[i] for i in some]
            axis.vlines(xs, 0, ys, color=PALETTE[color], linewidth=1.2)
        axis.plot([place[i] for i in top], [sizes[i] for i in top], "o", ms=4,
                  color=PALETTE["vermilion"])  # fmt: skip
        axis.set(ylim=(0, None), xlim=(-2, len(sizes) + 1))
    axes[0].set(xlabel="column", ylabel=ylabel)
    axes[1].set(xlabel="column, largest first")
    middle = sizes[order[len(order) // 2]]
    said = f"{ylabel} of {len(sizes)} columns: the largest {short(sizes[order[0]])}, the middle one"
    return Picture(figure, f"{said} {short(middle)}; the {marked} largest are marked.")


def _ranks(order: Sequence[int]) -> list[int]:
    ranks = [0] * len(order)
    for rank, i in enumerate(order):
        ranks[i] = rank
    return ranks


def valley(
    hessian: Sequence[Sequence[float]], start: Point, points: Mapping[str, Point], step: float = 1.0
) -> Picture:
    """The error of a layer with two inputs over all pairs of weights, and some pairs in it.

    hessian: [[a, b], [b, c]], the sums of x1 x1, x1 x2, x2 x2. The error of a pair is that of its
    difference to `start`, the star. Dots are the pairs that codes can stand for: multiples of step.
    """
    import numpy as np

    def error(x, y):
        dx, dy = x - start[0], y - start[1]
        return hessian[0][0] * dx**2 + 2 * hessian[0][1] * dx * dy + hessian[1][1] * dy**2

    every = [start, *points.values()]
    low = [step * (math.floor(min(p[i] for p in every) / step) - 0.6) for i in (0, 1)]
    high = [step * (math.ceil(max(p[i] for p in every) / step) + 0.6) for i in (0, 1)]
    x, y = np.meshgrid(*(np.linspace(lo, hi, 120) for lo, hi in zip(low, high)))
    figure, (axis,) = new_figure(width=4.6, height=3.4)
    levels = [float(error(x, y).max()) * (k / 9) ** 2 for k in range(1, 10)]
    axis.contour(x, y, error(x, y), levels=levels, colors=PALETTE["grey"], linewidths=0.8)
    _grid(axis, low, high, step)
    axis.plot(*start, "*", color=PALETTE["vermilion"], ms=13)
    said = [f"{label}: {short(float(error(*point)))}" for label, point in points.items()]
    for i, (text, point) in enumerate(zip(said, points.values())):
        axis.plot(*point, **{**style(i), "linestyle": "none"}, ms=10, mfc="none", mew=2)
        axis.annotate(text, point, (9, 5), textcoords="offset points", fontsize=9)
    axis.set(xlabel="weight 1", ylabel="weight 2")
    return Picture(figure, "Error over two weights, a narrow valley. Errors " + "; ".join(said))


def _grid(axis, low: Sequence[float], high: Sequence[float], step: float) -> None:
    whole = lambda lo, hi: range(math.ceil(lo / step), math.floor(hi / step) + 1)
    pairs = [(step * i, step * j) for i in whole(low[0], high[0]) for j in whole(low[1], high[1])]
    axis.plot(*zip(*pairs), ".", color="black", ms=5)
    axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axis.set_xticks(sorted({x for x, _ in pairs}))
    axis.set_yticks(sorted({y for _, y in pairs}))


def column_errors(values: Mapping[str, Sequence[float]], ylabel: str = "error") -> Picture:
    """One bar a column and name, side by side: what is lost in each column."""
    count = len(next(iter(values.values())))
    figure, (axis,) = new_figure(width=7.5, height=2.5)
    wide = 0.8 / len(values)
    for i, (name, errors) in enumerate(values.items()):
        places = [c + (i - (len(values) - 1) / 2) * wide for c in range(count)]
        axis.bar(places, [float(e) for e in errors], width=wide, color=SERIES[i], label=name)
    axis.set(xlabel="column", ylabel=ylabel)
    axis.set_xticks(range(0, count, max(1, count // 16)))
    axis.legend(fontsize=8, frameon=False)
    said = [f"{name} {short(sum(map(float, errors)))}" for name, errors in values.items()]
    return Picture(figure, f"{ylabel} of {count} columns; sums: {', '.join(said)}.")


def quality_table(report: Mapping | None, note: str) -> Table:
    """The recorded rows of the real model: bits, perplexity, KL, same next token. Empty: None."""
    columns = ("weights", "bits a weight", "perplexity", "to fp32", "KL, nats", "other token", "s")
    real = (report or {}).get("real") or {"rows": []}
    if not real["rows"]:
        return Table(columns, (), note)
    dense, rows = real["rows"][0]["perplexity"], []
    for row in real["rows"]:
        name = row["name"] + (" (simulated)" if row.get("simulated") else "")
        cells = (name, f"{row['bits']:.2f}", f"{row['perplexity']:.2f}",
                 f"{row['perplexity'] / dense:.3f}x")  # fmt: skip
        more = [f"{row['kl']:.4f}", f"{1 - row['top1']:.1%}"] if "kl" in row else ["", ""]
        seconds = f"{row['seconds']:.0f}" if "seconds" in row else ""
        rows.append(((*cells, *more, seconds), False))
    return Table(columns, tuple(rows), f"{real['model']}, {real['tokens']:,} tokens; {note}")
