"""Pictures of chapter 08: the bits of a number, and a row of weights beside what a format can say.

What they draw is what compress/formats.py computes, and for E4M3 what torch's own type does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from minillm.compress import formats
from minillm.show.canvas import PALETTE, Picture, ink, new_figure, short
from minillm.show.widget import Widget, widget

FLOATS = {  # dtype, exponent bits, mantissa bits; before them one bit of sign
    "fp32": (torch.float32, 8, 23),
    "fp16": (torch.float16, 5, 10),
    "bf16": (torch.bfloat16, 8, 7),
    "E5M2": (torch.float8_e5m2, 5, 2),
    "E4M3": (torch.float8_e4m3fn, 4, 3),
}
KINDS = ("int4", "int4 g64", "NF4 g64", "E4M3")  # g64: a scale for 64 weights, else for all
FIELDS = (PALETTE["vermilion"], PALETTE["pale"], PALETTE["sky"])  # sign, exponent, mantissa
BINS = 60  # of a histogram


@dataclass(frozen=True)
class Held:
    """A row of weights in some format."""

    back_K: Tensor  # what comes out again
    values_RV: Tensor  # what each of the R groups can hold


def hold(weight_K: Tensor, kind: str) -> Held:
    """A row through one of KINDS; the scale is that of formats.py, or max|w| / 448 for E4M3."""
    if kind not in KINDS:
        raise ValueError(f"no format is called {kind!r}: there are {', '.join(KINDS)}")
    if kind == "E4M3":
        scale = formats.store_scale(weight_K.abs().max() / 448, weight_K.dtype)
        eighth = (weight_K / scale).clamp(-448, 448).to(torch.float8_e4m3fn)
        return Held(eighth.to(weight_K.dtype) * scale, e4m3_values()[None] * scale)
    if kind.startswith("NF4"):
        coded, levels_V = formats.nf4(weight_K[None], 64), formats.nf4_levels()
    else:
        coded = formats.symmetric(weight_K[None], 4, 64 if "g64" in kind else None)
        levels_V = torch.arange(-8.0, 8.0)
    return Held(coded.dequantize()[0], coded.scale_NG[0, :, None] * levels_V)


def e4m3_values() -> Tensor:
    """All values of E4M3 from -448 to 448 -> float32 [253]: 256 codes, two NaN, 0 twice."""
    values = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).float()
    return values[values.isfinite()].unique()


def zero_share(weight_K: Tensor, held: Held) -> float:
    """The share of the weights that were not 0 and came back as 0."""
    return float(((held.back_K == 0) & (weight_K != 0)).float().mean())


def weight_row(
    weight_K: Tensor, kinds: Sequence[str] = KINDS, span: float | None = None, alt: str = ""
) -> Picture:
    """A row of weights under the microscope, one panel a format.

    Bars: how many weights have this value; the part in the dark colour becomes 0. Ticks below: the
    values that the format has, one lane a group. At the right: the share that becomes 0. span:
    values from -span to span are shown (default: all); what lies outside is an arrow at the edge.
    """
    weight_K = weight_K.detach().float().cpu()
    largest = float(weight_K.abs().max())
    span = span or 1.05 * largest
    figure, axes = new_figure(rows=len(kinds), width=7.5, height=0.95 * len(kinds) + 0.3)
    said = []
    for axis, kind in zip(axes, kinds):
        held = hold(weight_K, kind)
        _panel(axis, weight_K, held, span)
        share = zero_share(weight_K, held)
        axis.set_ylabel(kind, rotation=0, ha="right", va="center")
        place = dict(transform=axis.transAxes, va="center", weight="bold")
        axis.text(1.02, 0.5, f"{share:.1%}", fontsize=17, **place)
        said.append(f"{kind} {share:.1%}")
    for axis in axes[:-1]:
        axis.tick_params(labelbottom=False)
    text = f"{len(weight_K)} weights, the largest {short(largest)}. Share that becomes 0: "
    return Picture(figure, alt or text + ", ".join(said) + ".")


def _panel(axis, weight_K: Tensor, held: Held, span: float) -> None:
    """Histogram, lanes of ticks, and arrows for what lies outside."""
    gone = (held.back_K == 0) & (weight_K != 0)
    count = lambda w: torch.histc(w, BINS, -span, span)  # leaves out what lies outside
    left, wide = torch.linspace(-span, span, BINS + 1)[:-1].tolist(), 2 * span / BINS
    every, zeros = count(weight_K), count(weight_K[gone])
    top = max(1.0, float(every.max()))
    bar = lambda heights, **look: axis.bar(
        left, (heights / top).tolist(), wide, align="edge", **look
    )
    bar(every, color=PALETTE["pale"], edgecolor=PALETTE["grey"], linewidth=0.4)
    bar(zeros, color=PALETTE["vermilion"])
    lanes = len(held.values_RV)
    for lane, values_V in enumerate(held.values_RV):
        seen = values_V[values_V.abs() <= span].tolist()
        bottom = -0.55 * (lane + 1) / lanes - 0.05
        axis.vlines(seen, bottom, bottom + 0.45 / lanes, color="black", linewidth=0.9)
    for side in (-1, 1):
        outside = weight_K[side * weight_K > span]
        if len(outside):
            far = short(float(outside[outside.abs().argmax()]))
            point = dict(arrowstyle="-|>", color=PALETTE["vermilion"], linewidth=2)
            ends = dict(xy=(side * span, 0.75), xytext=(side * 0.82 * span, 0.75))
            axis.annotate(far, **ends, arrowprops=point, va="center", ha="center", fontsize=9)
    axis.set(xlim=(-span, span), ylim=(-0.62, 1.05), yticks=[])
    axis.spines["left"].set_visible(False)


def microscope(
    weight_K: Tensor,
    sizes: Sequence[float] = (4, 6, 8, 12, 16, 24, 32, 48, 64),
    kinds: Sequence[str] = KINDS,
    place: int | None = None,
    static: Sequence[float] = (),
) -> Widget:
    """weight_row with a slider over the size of one weight, in standard deviations of the row.

    place: which weight is moved (default: the largest, so that it lies outside from the start).
    """
    place = int(weight_K.abs().argmax()) if place is None else place
    others_K = torch.cat([weight_K[:place], weight_K[place + 1 :]]).float()
    spread, span = float(others_K.std()), 1.1 * float(others_K.abs().max())

    def frame(size: float) -> Picture:
        moved_K = weight_K.clone()
        moved_K[place] = size * spread
        return weight_row(moved_K, kinds, span)

    return widget(frame, sizes, "outlier / std", static)


def number_line(
    values: Mapping[str, Sequence[float]], span: float | None = None, alt: str = ""
) -> Picture:
    """Every value of some formats as a tick, one lane a format; at the right how many there are.

    span: only values from -span to span are drawn (default: all); all are counted.
    """
    span = span or max(abs(float(v)) for lane in values.values() for v in lane)
    figure, (axis,) = new_figure(width=7.5, height=0.42 * len(values) + 0.5)
    said = []
    for y, (name, lane) in enumerate(values.items()):
        found = sorted({float(v) for v in lane})
        seen = [v for v in found if abs(v) <= span]
        axis.vlines(seen, y - 0.32, y + 0.32, color="black", linewidth=0.7)
        axis.text(1.04 * span, y, str(len(found)), va="center", weight="bold")
        said.append(f"{name} has {len(found)} values, {len(seen)} of them here")
    axis.set_yticks(range(len(values)), list(values))
    axis.set(xlim=(-1.02 * span, 1.02 * span), ylim=(len(values) - 0.5, -0.5))
    text = f"Number line from {short(-span)} to {short(span)}. "
    return Picture(figure, alt or text + "; ".join(said) + ".")


def bits_of(value: float, name: str) -> tuple[str, str, str]:
    """(sign, exponent, mantissa) of a number in one of FLOATS, as digits 0 and 1."""
    dtype, exponent, mantissa = FLOATS[name]
    size = 1 + exponent + mantissa
    whole = {8: torch.uint8, 16: torch.int16, 32: torch.int32}[size]
    code = int(torch.tensor([value], dtype=torch.float64).to(dtype).view(whole)) % (1 << size)
    digits = f"{code:0{size}b}"
    return digits[0], digits[1 : 1 + exponent], digits[1 + exponent :]


def float_bits(value: float, names: Sequence[str] = tuple(FLOATS), alt: str = "") -> Picture:
    """One number in several formats, one box a bit: s sign, e exponent, m mantissa."""
    from matplotlib.patches import Rectangle

    figure, (axis,) = new_figure(width=7.5, height=0.36 * len(names) + 0.4)
    widest, said = max(sum(map(len, bits_of(value, name))) for name in names), []
    for y, name in enumerate(names):
        x, parts = 0, bits_of(value, name)
        for letter, color, digits in zip("sem", FIELDS, parts):
            if y == 0:
                axis.text(x + len(digits) / 2, -0.3, letter, ha="center", fontsize=9)
            for digit in digits:
                axis.add_patch(Rectangle((x, y), 1, 0.8, facecolor=color, edgecolor="white"))
                place = dict(ha="center", va="center", fontsize=7, color=ink(color))
                axis.text(x + 0.5, y + 0.42, digit, **place)
                x += 1
        held = float(torch.tensor([value], dtype=torch.float64).to(FLOATS[name][0]))
        axis.text(-0.4, y + 0.4, name, ha="right", va="center", fontsize=9)
        axis.text(widest + 0.4, y + 0.4, f"{held:.8g}", va="center", fontsize=9, weight="bold")
        said.append(f"{name} {' '.join(parts)}, which is {held:.8g}")
    axis.set(xlim=(-3, widest + 5.5), ylim=(len(names), -0.7))
    axis.axis("off")
    return Picture(figure, alt or f"The bits of {value:g}: " + "; ".join(said) + ".")
