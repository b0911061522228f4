"""Pictures of where time goes: the roofline and its moving dots, slopes, parts of a step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from minillm.clock import PAPER_GPU, Cost, Device, step_cost
from minillm.config import ModelConfig
from minillm.show.canvas import PALETTE, SERIES, Picture, ink, new_figure, short, style
from minillm.show.widget import widget


def roofline(
    device: Device,
    dots: Mapping[str, Cost | tuple[Cost, float]],
    xlim: tuple[float, float] = (0.2, 5000),
    height: float = 3.2,
    alt: str = "",
) -> Picture:
    """What a device can do at each intensity, and where pieces of work lie under this roof.

    dots: label -> Cost, drawn on the roof (the most it can reach), or (Cost, seconds measured),
    drawn where it really was, with a line up to the roof. Labels are symbols or short names.
    """
    figure, (axis,) = new_figure(width=5.6, height=height)
    roof = lambda x: min(device.peak, device.bandwidth * x)
    axis.loglog(*zip(*[(x, roof(x)) for x in (xlim[0], device.ridge, xlim[1])]), color="black")
    axis.axvline(device.ridge, color=PALETTE["grey"], linewidth=1, linestyle=":")
    axis.text(device.ridge * 1.1, roof(xlim[0]) / 2, short(device.ridge), fontsize=8)
    said = []
    for i, (label, work) in enumerate(dots.items()):
        cost, seconds = work if isinstance(work, tuple) else (work, None)
        x, top = cost.intensity, roof(cost.intensity)
        y = cost.flops / seconds if seconds else top
        axis.plot([x, x], [y, top], color=SERIES[i % 7], linewidth=1)
        axis.plot(x, y, **{**style(i), "linestyle": "none"}, markersize=9, markeredgecolor="white")
        axis.annotate(label, (x, y), (7, -12), textcoords="offset points", fontsize=9)
        said.append(f"{label} at {short(x)} FLOP per byte, {short(y)} FLOP/s")
    axis.set(xlim=xlim, ylim=(roof(xlim[0]) / 3, device.peak * 2.5))
    axis.set(xlabel="FLOP / byte", ylabel="FLOP / s")
    side = f"Roofline, ridge at {short(device.ridge)} FLOP per byte. "
    return Picture(figure, alt or side + "; ".join(said) + ".")


def step_roofline(
    config: ModelConfig,
    rows: int,
    device: Device = PAPER_GPU,
    context: int = 1024,
    prompt: int = 512,
    weight_bytes: float = 2,
    kv_bytes: float = 2,
) -> Picture:
    """Three dots: a the linears in decode with S = `rows`, b in a prefill of `prompt` tokens,
    c attention in decode. Only the first one moves with S."""
    decode = step_cost(config, rows, context, weight_bytes, kv_bytes)
    prefill = step_cost(config, prompt, prompt, weight_bytes, kv_bytes, requests=1)
    dots = {"a": decode.linears, "b": prefill.linears, "c": decode.attention}
    return roofline(device, dots, height=2.4)


def moving_dots(
    config: ModelConfig,
    device: Device = PAPER_GPU,
    rows: Sequence[int] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
    static: Sequence[int] = (1, 16, 256),
    **options,
):
    """step_roofline with a slider over S, the number of requests that share a step."""
    frame = lambda s: step_roofline(config, s, device, **options)
    return widget(frame, rows, label="S", static=static)


@dataclass(frozen=True)
class Panel:
    """One panel of `scaling`: for each series a list of y, all over the same x."""

    x: Sequence[float]
    series: Mapping[str, Sequence[float]]
    xlabel: str
    ylabel: str
    tail: int = 3  # the slope is that of so many last points


def slope(x: Sequence[float], y: Sequence[float], tail: int = 3) -> float:
    """Slope of the last `tail` points on log-log axes: the k of y ~ x^k (least squares)."""
    xs, ys = [math.log(v) for v in x[-tail:]], [math.log(v) for v in y[-tail:]]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - mx) * (b - my) for a, b in zip(xs, ys)) / sum((a - mx) ** 2 for a in xs)


def scaling(panels: Sequence[Panel], alt: str = "") -> Picture:
    """How cost grows: log-log panels, each line with its slope, printed as a power of n."""
    figure, axes = new_figure(len(panels), width=3.7 * len(panels), height=3.0)
    said = []
    for axis, panel in zip(axes, panels):
        for i, (label, y) in enumerate(panel.series.items()):
            power = slope(panel.x, y, panel.tail)
            axis.loglog(panel.x, y, **style(i), markersize=5, label=f"{label}: $n^{{{power:.1f}}}$")
            said.append(f"{label} {panel.ylabel} grows as n to the power {power:.1f}")
        _plain_ticks(axis, panel.x)
        axis.set(xlabel=panel.xlabel, ylabel=panel.ylabel)
        axis.legend(fontsize=8, frameon=False)
    return Picture(figure, alt or "; ".join(said) + ".")


def _plain_ticks(axis, x: Sequence[float]) -> None:
    """The measured x themselves as ticks, at most six of them."""
    shown = x[:: -(-len(x) // 6)]
    axis.set_xticks(shown, [short(v) for v in shown])
    axis.set_xticks([], minor=True)


def lines(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    xlabel: str,
    ylabel: str,
    log: str = "",
    bound: float | None = None,
    alt: str = "",
) -> Picture:
    """Curves over one x. log: "x", "y" or "xy". bound: a dashed grey line that nothing crosses."""
    figure, (axis,) = new_figure(width=5.2, height=2.9)
    for i, (label, y) in enumerate(series.items()):
        axis.plot(x, y, **style(i), markersize=5, label=label)
    if bound is not None:
        axis.axhline(bound, color=PALETTE["grey"], linestyle="--", linewidth=1.5)
    axis.set(xlabel=xlabel, ylabel=ylabel)
    if "x" in log:
        axis.set_xscale("log")
        _plain_ticks(axis, x)
    axis.set_yscale("log" if "y" in log else "linear")
    if len(series) > 1:
        axis.legend(fontsize=8, frameon=False)
    ends = [f"{label} from {short(y[0])} to {short(y[-1])}" for label, y in series.items()]
    span = f"{ylabel} over {xlabel} from {short(x[0])} to {short(x[-1])}: "
    return Picture(figure, alt or span + "; ".join(ends) + ".")


def bars(
    values: Mapping[str, float], xlabel: str, bound: float | None = None, alt: str = ""
) -> Picture:
    """One bar a name, with its number. bound: a dashed line, such as the speed of the memory."""
    figure, (axis,) = new_figure(width=5.6, height=0.42 * len(values) + 0.8)
    top = max([*values.values(), bound or 0])
    for place, value in enumerate(values.values()):
        axis.barh(place, value, color=SERIES[0], height=0.6)
        axis.text(value + top / 60, place, short(value), va="center", fontsize=8)
    if bound is not None:
        axis.axvline(bound, color=PALETTE["vermilion"], linestyle="--", linewidth=1.5)
    axis.set_yticks(range(len(values)), list(values))
    axis.invert_yaxis()
    axis.set(xlabel=xlabel, xlim=(0, top * 1.14))
    said = ", ".join(f"{name} {short(value)}" for name, value in values.items())
    limit = "" if bound is None else f", bound {short(bound)}"
    return Picture(figure, alt or f"{xlabel}: {said}{limit}.")


def stack(rows: Mapping[str, Mapping[str, float]], unit: str, alt: str = "") -> Picture:
    """Where the time (or the bytes) of one step went: one bar a row, one piece a part.

    rows: name -> {part: value}; parts of the same name have one colour. A piece too narrow for
    its number carries none; the legend has the numbers of a single row.
    """
    figure, (axis,) = new_figure(width=7.5, height=0.5 * len(rows) + 1.1)
    names = list(dict.fromkeys(part for parts in rows.values() for part in parts))
    top = max(sum(parts.values()) for parts in rows.values())
    for y, parts in enumerate(rows.values()):
        left = 0.0
        for part, value in parts.items():
            color = SERIES[names.index(part) % len(SERIES)]
            axis.barh(y, value, left=left, color=color, edgecolor="white", height=0.7)
            if value > 0.06 * top:
                place = (left + value / 2, y)
                axis.text(*place, short(value), ha="center", va="center", c=ink(color), fontsize=8)
            left += value
        axis.text(left + top / 100, y, short(left), va="center", fontsize=8, weight="bold")
    axis.set_yticks(range(len(rows)), list(rows))
    axis.invert_yaxis()
    axis.set(xlabel=unit, xlim=(0, top * 1.1))
    _part_legend(figure, names, next(iter(rows.values())) if len(rows) == 1 else {})
    said = [f"{n}: " + ", ".join(f"{p} {short(v)}" for p, v in r.items()) for n, r in rows.items()]
    return Picture(figure, alt or f"In {unit}. " + "; ".join(said) + ".")


def _part_legend(figure, names: Sequence[str], values: Mapping[str, float]) -> None:
    from matplotlib.patches import Patch

    label = lambda name: f"{name} {short(values[name])}" if name in values else name
    patches = [Patch(color=SERIES[i % len(SERIES)], label=label(n)) for i, n in enumerate(names)]
    place = dict(loc="outside upper center", ncols=min(len(names), 7), frameon=False)
    figure.legend(handles=patches, fontsize=8, **place)
