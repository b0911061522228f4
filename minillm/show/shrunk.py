"""Pictures of chapter 13: what remains of a model, which layers count, what training gives back."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from minillm.show.canvas import MARKERS, PALETTE, SERIES, Picture, new_figure, short
from minillm.show.score import Table

GROUP, QUERY, CHANNELS = PALETTE["orange"], PALETTE["blue"], PALETTE["green"]


def remaining(config, kept, alt: str = "") -> Picture:
    """A model as boxes, one row a layer; what is cut is hatched. Widths are numbers of weights.

    A row: for each KV head its box (orange) and those of its query heads (blue), then the channels
    of the MLP (green), those that stay first. config: of the whole model. kept: what stays, by old
    numbers, as compress.shrink.choose returns it.
    """
    rows, left = config.num_layers, 0
    figure, (axis,) = new_figure(width=7.5, height=0.34 * rows + 0.7)
    for layer in range(rows):
        place = kept.layers.index(layer) if layer in kept.layers else None
        pick = lambda parts, p=place: () if p is None else parts[p]
        heads, groups, channels = (pick(p) for p in (kept.heads, kept.groups, kept.channels))
        left += _attention_row(axis, layer, config, heads, groups)
        left += _channel_bar(axis, layer, config, len(channels))
    whole = rows * _row_width(config)
    axis.set(xlim=(0, _row_width(config)), ylim=(rows - 0.5, -0.5), xlabel="weights of a layer")
    axis.set_yticks(range(rows))
    axis.set_ylabel("layer")
    axis.xaxis.set_major_formatter(lambda value, _: short(value))
    count = [len(kept.layers), len(kept.heads[0]), len(kept.groups[0]), len(kept.channels[0])]
    old = (rows, config.num_heads, config.num_kv_heads, config.mlp_width)
    names = ("layers", "query heads", "KV heads", "channels")
    said = ", ".join(f"{n} of {o} {name}" for n, o, name in zip(count, old, names))
    return Picture(figure, alt or f"Boxes of a model: {said} stay, {left / whole:.0%} of them all.")


def _row_width(config) -> int:
    """Weights in the matrices of one layer."""
    heads = 2 * (config.num_heads + config.num_kv_heads) * config.head_size
    return config.width * (heads + 3 * config.mlp_width)


def _attention_row(axis, y: int, config, heads, groups) -> int:
    """-> weights that stay. A query head has a part of q and of o, a KV head of k and of v."""
    each, x, left = 2 * config.head_size * config.width, 0, 0
    for group in range(config.num_kv_heads):
        first = group * config.queries_per_kv
        boxes = [(group in groups, GROUP)]
        boxes += [(first + i in heads, QUERY) for i in range(config.queries_per_kv)]
        for stays, color in boxes:
            _bar(axis, y, x, each, color if stays else None)
            x, left = x + each, left + each * stays
    return left


def _channel_bar(axis, y: int, config, stay: int) -> int:
    start, each = _row_width(config) - 3 * config.width * config.mlp_width, 3 * config.width
    if stay:
        _bar(axis, y, start, stay * each, CHANNELS)
    if stay < config.mlp_width:
        _bar(axis, y, start + stay * each, (config.mlp_width - stay) * each, None)
    return stay * each


def _bar(axis, y: int, left: float, width: float, color: str | None) -> None:
    """One box; without a colour it is cut."""
    look = dict(color=color, edgecolor="white") if color else dict(
        color="white", hatch="/////", edgecolor=PALETTE["grey"], linewidth=0
    )  # fmt: skip
    axis.barh(y, width, left=left, height=0.82, **look)


def by_layer(panels: Mapping[str, Sequence[float]], log: Collection[str] = ()) -> Picture:
    """One panel a measure, one bar a layer; the longest bar of a panel is marked.

    panels: ylabel -> a number for each layer. log: the names of panels with a logarithmic axis.
    """
    figure, axes = new_figure(len(panels), width=2.5 * len(panels) + 0.1, height=2.6)
    said = []
    for axis, (name, values) in zip(axes, panels.items()):
        values = [float(v) for v in values]
        top = values.index(max(values))
        colors = [PALETTE["vermilion"] if i == top else SERIES[0] for i in range(len(values))]
        axis.bar(range(len(values)), values, color=colors, width=0.75)
        for i, value in enumerate(values):
            text = short(value if value >= 1 else float(f"{value:.2g}"))
            axis.annotate(text, (i, value), (0, 2), textcoords="offset points",
                          ha="center", fontsize=7)  # fmt: skip
        axis.set(xlabel="layer", ylabel=name, yscale="log" if name in log else "linear")
        axis.set_xticks(range(len(values)))
        axis.margins(y=0.12)
        each = ", ".join(f"layer {i} {short(v)}" for i, v in enumerate(values))
        said.append(f"{name}: {each}; largest at layer {top}")
    return Picture(figure, ". ".join(said) + ".")


def recovery(stages: Mapping[str, Mapping[str, float]], alt: str = "") -> Picture:
    """Share of right answers, one row a task, one mark a stage, such as whole, cut, trained."""
    tasks = list(next(iter(stages.values())))
    figure, (axis,) = new_figure(width=6.2, height=0.36 * len(tasks) + 1.0)
    for y, task in enumerate(tasks):
        found = [100 * shares[task] for shares in stages.values()]
        axis.plot([min(found), max(found)], [y, y], color=PALETTE["grey"], linewidth=1.5, zorder=1)
    for i, (name, shares) in enumerate(stages.items()):
        where = [100 * shares[task] for task in tasks]
        lower = 0.14 * (i - (len(stages) - 1) / 2)  # equal shares must not hide each other
        look = dict(color=SERIES[i], marker=MARKERS[i], s=55, edgecolor="white", linewidth=0.6)
        heights = [y + lower for y in range(len(tasks))]
        axis.scatter(where, heights, label=name, zorder=2, **look)
    axis.set(xlabel="% right", xlim=(-4, 104), ylim=(len(tasks) - 0.5, -0.5))
    axis.set_yticks(range(len(tasks)), tasks)
    axis.legend(fontsize=8, frameon=False, ncols=len(stages), loc="lower center",
                bbox_to_anchor=(0.5, 1.0))  # fmt: skip
    said = [f"{n}: " + ", ".join(f"{t} {s:.0%}" for t, s in shares.items())
            for n, shares in stages.items()]  # fmt: skip
    return Picture(figure, alt or "Right answers. " + "; ".join(said) + ".")


def front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Names of the points that no other beats, smallest x first (the Pareto front).

    A point beats another with no more x (cost) and no less y (quality), one of them better. Of
    equal points the first one counts.
    """
    best, names = -math.inf, []
    for name in sorted(points, key=lambda n: (points[n][0], -points[n][1])):
        if points[name][1] > best:
            names, best = [*names, name], points[name][1]
    return names


def pareto(
    points: Mapping[str, tuple[float, float]],
    xlabel: str,
    ylabel: str,
    mine: Collection[str] = (),
    log: bool = False,
    alt: str = "",
) -> Picture:
    """Cost against quality: better is further left and higher. The front is joined by steps.

    points: a short name -> (x, y). mine: drawn as stars, such as what was measured just now. What
    another point beats in both is hollow. log: a logarithmic x.
    """
    figure, (axis,) = new_figure(width=6.4, height=3.6)
    best = front(points)
    axis.step(*zip(*(points[n] for n in best)), where="post", color=PALETTE["vermilion"],
              linewidth=1.5, zorder=1)  # fmt: skip
    for name, (x, y) in points.items():
        shape = dict(marker="*", s=150) if name in mine else dict(marker="o", s=45)
        fill = SERIES[0] if name in best else "white"
        axis.scatter(x, y, color=fill, edgecolor=SERIES[0], zorder=2, **shape)
        side = (0, 8) if name in best else (0, -14)  # so that neighbours do not meet
        axis.annotate(name, (x, y), side, textcoords="offset points", ha="center", fontsize=8)
    axis.set(xlabel=xlabel, ylabel=ylabel)
    if log:
        _round_ticks(axis, [x for x, _ in points.values()])
    axis.margins(x=0.12, y=0.1)
    said = "; ".join(f"{n} {short(x)}, {short(y)}" for n, (x, y) in points.items())
    text = f"{ylabel} over {xlabel}: {said}. On the front: {', '.join(best)}."
    return Picture(figure, alt or text)


def _round_ticks(axis, values: Sequence[float]) -> None:
    """A logarithmic x with ticks at 1, 2, 3, 5 and 7 times powers of ten."""
    axis.set_xscale("log")
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    ticks = [m * 10.0**p for p in range(low, high + 1) for m in (1, 2, 3, 5, 7)]
    ticks = [t for t in ticks if min(values) / 2 <= t <= max(values) * 2]
    axis.set_xticks(ticks, [short(t) for t in ticks])
    axis.set_xticks([], minor=True)


def combinations_table(report: Mapping | None, note: str) -> Table:
    """The combinations of a prune report: bytes, FLOPs, speed, quality; a star on the front.

    Rows are numbered from 1, as points of a picture too crowded for names.
    """
    columns = ("weights", "MB", "MFLOP", "K/V bytes a token", "tokens/s of blank", "perplexity",
               "right", "trained, s")  # fmt: skip
    report = report or {}
    rows, speeds = report.get("combinations", []), (report.get("speed") or {}).get("rows", [])
    fast = {row["name"]: f"{1 / row['per_token_s']['median']:.1f}" for row in speeds}
    best = front({row["name"]: (row["bytes"], row["mean"]) for row in rows})
    lines = []
    for number, row in enumerate(rows, 1):
        star = " *" if row["name"] in best else ""
        cells = (f"{row['bytes'] / 1e6:.2f}", f"{row['flops'] / 1e6:.2f}",
                 f"{row['kv_bytes']:,.0f}", fast.get(_treated_alike(row), ""),
                 f"{row['tales']:.3f}", f"{row['mean']:.1%}",
                 f"{row['recovery_s']:.0f}" if row["recovery_s"] else "")  # fmt: skip
        lines.append(((f"{number}: {row['name']}{star}", *cells), False))
    return Table(columns, tuple(lines), note)


def _treated_alike(row: Mapping) -> str:
    """The name of a combination's row among the speeds: blank is cut and packed, never trained."""
    start, packed = row["start"].removesuffix(", trained again"), row["packed"]
    if packed is None:
        return start
    return packed if start == "dense" else f"{start}, {packed}"
