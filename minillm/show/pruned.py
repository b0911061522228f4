"""Pictures of chapter 12: which weights stay, what zeros cost in bytes, and what they do harm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minillm.show.canvas import PALETTE, SERIES, Picture, new_figure, short, style
from minillm.show.packed import _box
from minillm.show.score import Table

KEPT, DROPPED = PALETTE["blue"], PALETTE["pale"]


def kept_maps(
    masks: Mapping[str, Sequence[Sequence[bool]]],
    sizes: Mapping[str, Sequence[float]] | None = None,
    alt: str = "",
) -> Picture:
    """Which weights of one matrix stay, a panel a method: rows are outputs, columns are inputs.

    masks: name -> [R][C], True for a weight that stays. sizes: name -> C numbers, drawn as a strip
    above its panel: what the method looks at in each column, such as the mean |x|.
    """
    from matplotlib.colors import ListedColormap

    levels, count = (2 if sizes else 1), len(masks)
    shape = dict(height_ratios=[1, 3]) if sizes else {}
    figure, axes = new_figure(count, levels, 2.5 * count + 0.1, 2.2 + 0.6 * (levels - 1), **shape)
    said = []
    for i, (name, mask) in enumerate(masks.items()):
        panel = axes[(levels - 1) * count + i]
        rows, columns = len(mask), len(mask[0])
        values = [[int(kept) for kept in row] for row in mask]
        panel.imshow(values, cmap=ListedColormap([DROPPED, KEPT]), vmin=0, vmax=1,
                     aspect="auto", interpolation="nearest")  # fmt: skip
        panel.set_xlabel("column")
        by_column = [sum(column) / rows for column in zip(*values)]
        said.append(f"{name}: {sum(by_column) / columns:.0%} stay, "
                    f"{min(by_column):.0%} to {max(by_column):.0%} of a column")  # fmt: skip
        axes[i].set_title(name, fontsize=9)
        if sizes:
            axes[i].bar(range(columns), [float(s) for s in sizes[name]], color="black", width=1)
            axes[i].set(xlim=(-0.5, columns - 0.5), xticks=[], yticks=[])
    axes[(levels - 1) * count].set_ylabel("row")
    return Picture(figure, alt or "Weights that stay. " + "; ".join(said) + ".")


def crossing(x: Sequence[float], y: Sequence[float], level: float) -> float | None:
    """Where the line through these points first meets `level`; None if it never does."""
    for (x0, y0), (x1, y1) in zip(zip(x, y), list(zip(x, y))[1:]):
        if y0 != y1 and min(y0, y1) <= level <= max(y0, y1):
            return x0 + (level - y0) / (y1 - y0) * (x1 - x0)
    return None


def format_bytes(
    sparsity: Sequence[float], forms: Mapping[str, Sequence[float]], alt: str = ""
) -> Picture:
    """Bytes of a matrix in several forms over its share of zeros, each as a multiple of dense.

    forms: name -> a number for each sparsity; None where the form does not exist. The dashed line
    is the dense matrix; a ring and its number: where a form begins to be smaller.
    """
    figure, (axis,) = new_figure(width=5.6, height=3.1)
    said = []
    for i, (name, times) in enumerate(forms.items()):
        points = [(s, t) for s, t in zip(sparsity, times) if t is not None]
        axis.plot(*zip(*points), **style(i), markersize=5 if len(points) > 1 else 9, label=name)
        meets = crossing(*zip(*points), 1.0) if len(points) > 1 else None
        if meets is not None:
            axis.plot(meets, 1.0, "o", ms=11, mfc="none", mew=2,
                      color=PALETTE["vermilion"])  # fmt: skip
            axis.annotate(f"{meets:.0%}", (meets, 1.0), (6, 7), textcoords="offset points",
                          fontsize=9)  # fmt: skip
        ends = ", ".join(f"{s:.0%} zeros {short(t)}" for s, t in points)
        least = "" if meets is None else f", as large as dense at {meets:.0%}"
        said.append(f"{name}: {ends}{least}")
    axis.axhline(1.0, color=PALETTE["grey"], linestyle="--", linewidth=1.5)
    axis.set(xlabel="share of zeros", ylabel="bytes / dense", ylim=(0, None))
    axis.legend(fontsize=8, frameon=False)
    return Picture(figure, alt or "Bytes as a multiple of dense. " + "; ".join(said) + ".")


def two_of_four(weights: Sequence[float], alt: str = "") -> Picture:
    """Weights in fours, the two largest of each kept (above); what is stored of them (below).

    Below: the two values of each four, and where they stood, 0 to 3, as 2 bits each. Of equal
    weights the first ones go. Raises ValueError if 4 does not divide their number.
    """
    if not weights or len(weights) % 4:
        raise ValueError(f"fours of weights are needed, got {len(weights)}")
    figure, (axis,) = new_figure(width=0.62 * len(weights) + 0.2, height=2.2)
    said = []
    for first in range(0, len(weights), 4):
        four = [float(w) for w in weights[first : first + 4]]
        kept = sorted(sorted(range(4), key=lambda i: (abs(four[i]), i))[2:])
        for i, weight in enumerate(four):
            _box(axis, first + i, 2.0, f"{weight:+.1f}", KEPT if i in kept else DROPPED)
        for place, i in enumerate(kept):
            x = first + 1 + place
            axis.plot([first + i + 0.5, x + 0.5], [2.0, 1.1], color=KEPT, linewidth=1.2)
            _box(axis, x, 0.4, f"{four[i]:+.1f}", KEPT)
            axis.text(x + 0.5, 0.12, f"{i:02b}", ha="center", va="center", family="monospace")
        said.append(f"{four[kept[0]]:+.1f} and {four[kept[1]]:+.1f} at {kept[0]} and {kept[1]}")
    for x in range(4, len(weights), 4):
        axis.axvline(x, color=PALETTE["grey"], linewidth=1, linestyle=":")
    axis.set(xlim=(-0.1, len(weights) + 0.1), ylim=(-0.1, 2.8))
    axis.axis("off")
    return Picture(figure, alt or "Two of every four weights stay: " + "; ".join(said) + ".")


def grouped(
    values: Mapping[str, Mapping[str, float]],
    ylabel: str,
    log: bool = False,
    bound: float | None = None,
    alt: str = "",
) -> Picture:
    """Groups of bars, one bar a name in each, with its number: {group: {name: value}}.

    log: a logarithmic axis. bound: a dashed line. A name that a group lacks has no bar there.
    """
    names = list(dict.fromkeys(name for group in values.values() for name in group))
    figure, (axis,) = new_figure(width=7.5, height=2.8)
    wide = 0.84 / len(names)
    for i, name in enumerate(names):
        found = [(g, group[name]) for g, group in enumerate(values.values()) if name in group]
        places = [g + (i - (len(names) - 1) / 2) * wide for g, _ in found]
        axis.bar(places, [v for _, v in found], width=0.92 * wide, color=SERIES[i % len(SERIES)],
                 label=name, edgecolor="black", linewidth=0.5)  # fmt: skip
        for place, (_, value) in zip(places, found):
            axis.annotate(short(value), (place, value), (0, 2), textcoords="offset points",
                          ha="center", fontsize=7)  # fmt: skip
    if bound is not None:
        axis.axhline(bound, color=PALETTE["vermilion"], linestyle="--", linewidth=1.5)
    axis.set_xticks(range(len(values)), list(values))
    axis.set(ylabel=ylabel, yscale="log" if log else "linear")
    axis.margins(y=0.14)
    axis.legend(fontsize=8, frameon=False, ncols=len(names), loc="lower center",
                bbox_to_anchor=(0.5, 1.0))  # fmt: skip
    said = [f"{g}: " + ", ".join(f"{n} {short(v)}" for n, v in group.items())
            for g, group in values.items()]  # fmt: skip
    return Picture(figure, alt or f"{ylabel}. " + "; ".join(said) + ".")


def survival(rows: Sequence[Mapping], alt: str = "") -> Picture:
    """Perplexity (logarithmic) and right answers over the share of zeros, one line a method.

    rows: {"method", "sparsity", "perplexity", "accuracy": 0..1}; the row of method "dense" is the
    dashed line of both panels.
    """
    dense = next((row for row in rows if row["method"] == "dense"), None)
    methods = list(dict.fromkeys(r["method"] for r in rows if r["method"] != "dense"))
    figure, axes = new_figure(2, width=7.5, height=2.8)
    said = []
    for axis, key, times in zip(axes, ("perplexity", "accuracy"), (1, 100)):
        for i, method in enumerate(methods):
            line = sorted((r["sparsity"], times * r[key]) for r in rows if r["method"] == method)
            axis.plot([100 * s for s, _ in line], [v for _, v in line], **style(i), markersize=5,
                      label=method)  # fmt: skip
            points = ", ".join(f"{s:.0%} zeros {short(v)}" for s, v in line)
            said.append(f"{key}, {method}: {points}")
        if dense is not None:
            axis.axhline(times * dense[key], color=PALETTE["grey"], linestyle="--", linewidth=1.5)
        shown = sorted({100 * r["sparsity"] for r in rows if r is not dense})
        axis.set_xticks(shown, [short(round(s, 6)) for s in shown])
        axis.set_xlabel("% zeros")
    axes[0].set(ylabel="perplexity", yscale="log")
    axes[0].yaxis.set_major_formatter(lambda value, _: short(value))
    axes[0].yaxis.set_minor_formatter(lambda value, _: short(value))
    axes[0].tick_params(axis="y", which="both", labelsize=8)
    axes[1].set(ylabel="% right", ylim=(-4, 104))
    axes[0].legend(fontsize=8, frameon=False)
    return Picture(figure, alt or "; ".join(said) + ".")


def by_sparsity(rows: Sequence[Mapping]) -> list[dict]:
    """Rows of a prune report, {"method", "sparsity", "tales", "mean"} -> those of `survival`.

    Rows of a pattern such as "2:4" have no place on an axis of shares and are left out.
    """
    keys = {"perplexity": "tales", "accuracy": "mean"}
    return [
        {"method": row["method"], "sparsity": row["sparsity"]}
        | {k: row[v] for k, v in keys.items()}
        for row in rows
        if not isinstance(row["sparsity"], str)
    ]


def pruned_table(report: Mapping | None, note: str) -> Table:
    """The recorded rows of the real model: perplexity, KL, other next token. Empty without them."""
    columns = ("weights", "perplexity", "to dense", "KL, nats", "other token")
    real = (report or {}).get("real") or {"rows": []}
    if not real["rows"]:
        return Table(columns, (), note)
    dense, rows = real["rows"][0]["perplexity"], []
    for row in real["rows"]:
        far = (f"{row['kl']:.4f}", f"{1 - row['top1']:.1%}") if "kl" in row else ("", "")
        ruler = row["perplexity"]
        rows.append(((row["name"], f"{ruler:.2f}", f"{ruler / dense:.2f}x", *far), False))
    return Table(columns, tuple(rows), f"{real['model']}, {real['tokens']:,} tokens; {note}")
