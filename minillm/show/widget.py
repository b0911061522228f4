"""A picture with a slider: live where a kernel runs, three frames in what is saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from minillm.show.canvas import Picture, image_bundle, shrink

WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Widget:
    """What a notebook shows: a slider, and the static twin for whoever only reads the file."""

    frame: Callable[[object], Picture]
    values: tuple
    label: str
    static: tuple

    def twin(self) -> tuple[bytes, str]:
        """(PNG of the static frames, one under the other, their alt texts)."""
        import numpy as np

        frames = [self.picture(value) for value in self.static]
        arrays = [frame.pixels() for frame in frames]
        width = max(a.shape[1] for a in arrays)
        pad = lambda a: np.pad(a, ((0, 0), (0, width - a.shape[1]), (0, 0)), constant_values=255)
        words = [f"{self.label} = {v}: {f.alt}" for v, f in zip(self.static, frames)]
        return shrink(np.concatenate([pad(a) for a in arrays])), " ".join(words)

    def picture(self, value) -> Picture:
        """One frame, with its value written above it."""
        made = self.frame(value)
        made.figure.suptitle(f"{self.label} = {value}", x=0.02, ha="left", fontsize=10)
        return made

    def live(self):
        """The ipywidgets box: a slider over the values and the picture it chooses."""
        import ipywidgets

        start = self.static[len(self.static) // 2]
        slider = ipywidgets.SelectionSlider(
            options=list(self.values), value=start, description=self.label
        )
        image = ipywidgets.Image(value=self.picture(start).png(), format="png", width=560)
        known = {}

        def moved(change):
            value = change["new"]
            known[value] = known.get(value) or self.picture(value).png()
            image.value = known[value]

        slider.observe(moved, "value")
        return ipywidgets.VBox([slider, image])

    def _repr_mimebundle_(self, include=None, exclude=None):
        data, metadata = image_bundle(*self.twin())
        try:
            box = self.live()._repr_mimebundle_()
        except ImportError:  # no ipywidgets here: the twin alone
            return data, metadata
        return {**data, WIDGET: box[WIDGET]}, metadata


def widget(
    frame: Callable[[object], Picture], values: Sequence, label: str = "", static: Sequence = ()
) -> Widget:
    """A slider over `values`; frame(value) -> Picture.

    static: the frames of the saved twin (default: first, middle, last). All must be in values.
    """
    values = tuple(values)
    static = tuple(static) or tuple(
        dict.fromkeys((values[0], values[len(values) // 2], values[-1]))
    )
    outside = [v for v in static if v not in values]
    if outside:
        raise ValueError(f"static frames {outside} are not among the values {list(values)}")
    return Widget(frame, values, label, static)
