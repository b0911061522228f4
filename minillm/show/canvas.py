"""What every picture is made with: one palette, empty panels, and a figure that carries its text.

Numbers and symbols stand inside a picture, words in its caption below (not every machine has a
font for every script) and in its alt text, for those who cannot see it.
"""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from pathlib import Path

# Okabe & Ito (2008): colours that stay apart for the colour-blind.
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
    "pale": "#E4E4E4",
}
# In this order neighbours also stay apart in grey; marker and dash tell them apart a second time.
SERIES = [
    PALETTE[name] for name in ("blue", "orange", "black", "sky", "green", "yellow", "vermilion")
]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
SCREEN_DPI, FILE_DPI = 96, 144  # shown at 96 points an inch, stored finer; both in whole pixels


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure with its alt text; a notebook shows it, `save` writes it."""

    figure: object
    alt: str
    _png: list = field(default_factory=list, repr=False)  # drawn once

    def png(self) -> bytes:
        """The picture as a small PNG: 256 colours are enough for flat areas."""
        if not self._png:
            self._png.append(shrink(self.pixels()))
        return self._png[0]

    def pixels(self):
        """-> uint8 array [height, width, 3]."""
        import numpy as np
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.figure.set_dpi(FILE_DPI)
        canvas = FigureCanvasAgg(self.figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()

    def save(self, path: str | Path) -> None:
        """Write the PNG."""
        Path(path).write_bytes(self.png())

    def _repr_mimebundle_(self, include=None, exclude=None):
        return image_bundle(self.png(), self.alt)


def shrink(pixels) -> bytes:
    """An array [height, width, 3] as a PNG with 256 colours."""
    from PIL import Image

    image = Image.fromarray(pixels).quantize(256, dither=Image.Dither.NONE)
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def image_bundle(png: bytes, alt: str) -> tuple[dict, dict]:
    """(data, metadata) as a notebook keeps an image: its size on screen and its alt text.

    The alt text stands where nbconvert's classic page looks for it. JupyterLab 4 has no use for it
    there yet, so it is the plain text of the output too, and a caption stands below.
    """
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))  # PNG header
    size = {"width": width * SCREEN_DPI // FILE_DPI, "height": height * SCREEN_DPI // FILE_DPI}
    data = {"image/png": base64.b64encode(png).decode(), "text/plain": alt}
    return data, {"image/png": {"alt": alt, **size}}


def new_figure(columns: int = 1, rows: int = 1, width: float = 7.5, height: float = 2.6, **options):
    """`rows` x `columns` empty panels without top and right border -> (Figure, list of Axes).

    Not a figure of pyplot: nothing shows it twice, and nothing keeps it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
        axis.xaxis.label.set_size(9)
        axis.yaxis.label.set_size(9)
    return figure, list(axes.flat)


def style(index: int) -> dict:
    """Colour, marker and dash of the series with this number."""
    i = index % len(SERIES)
    return {"color": SERIES[i], "marker": MARKERS[i], "linestyle": DASHES[i]}


def grey_of(color: str) -> float:
    """How bright a colour is in grey, 0 black to 1 white (ITU-R BT.601)."""
    from matplotlib.colors import to_rgb

    return sum(w * c for w, c in zip((0.299, 0.587, 0.114), to_rgb(color)))


def ink(color: str) -> str:
    """Black or white, whichever can be read on this colour."""
    return "black" if grey_of(color) > 0.5 else "white"


def short(value: float) -> str:
    """A number in three digits, whole ones below 10,000 in full: 0.052, 24, 1024, 12.3k, 300G."""
    if value == int(value) and abs(value) < 10_000:
        return f"{value:.0f}"
    for power, letter in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if abs(value) >= 0.9995 * 10**power:
            return f"{value / 10**power:.3g}{letter}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.0e}"
