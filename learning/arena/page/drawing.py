"""Plots as SVG: shapes placed by scales; the style sheet sets colours and fonts."""

from __future__ import annotations

import math
from typing import Final, NamedTuple, Self
from xml.etree import ElementTree as ET

WIDTH: Final = 310.0
"""Width left for a plot on a screen of 360 pixels, so that text is hardly ever smaller than drawn."""


class Scale(NamedTuple):
    """Maps values to positions: ``low`` is drawn at ``start``, ``high`` at ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Position of a value; values outside are drawn at the edge.

        >>> Scale(0, 10, 100, 300)(5), Scale(0, 10, 100, 300)(-1)
        (200.0, 100.0)
        """
        inside = min(max(value, self.low), self.high)
        return self.start + (self.end - self.start) * (inside - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values in the range, at most ``most``.

        >>> Scale(0, 0.31, 0, 1).ticks(4)
        [0.0, 0.1, 0.2, 0.3]
        """
        step = _round_step((self.high - self.low) / most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(number * step, 10) for number in range(first, last + 1)]


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20 … that is at least ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * (1 - 1e-9))


class Drawing:
    """One plot.

    Args:
        height: in the units in which `WIDTH` is the width.
        label: text for readers who cannot see the plot.
    """

    def __init__(self, height: float, label: str) -> None:
        box = f"0 0 {WIDTH:g} {height:g}"
        self._root = ET.Element("svg", {"viewBox": box, "role": "img", "aria-label": label})

    def __html__(self) -> str:
        """The element, for a template: names in it are already escaped."""
        return ET.tostring(self._root, encoding="unicode")

    def shape(self, tag: str, css: str, tip: str = "", **places: float | str) -> Self:
        """Add a shape.

        Args:
            tag: SVG element.
            css: classes.
            tip: tooltip.
            places: its attributes.
        """
        values = {
            name: f"{place:.1f}" if isinstance(place, float) else str(place) for name, place in places.items()
        }
        found = ET.SubElement(self._root, tag, {"class": css} | values)
        if tip:
            ET.SubElement(found, "title").text = tip
        return self

    def line(self, css: str, start: tuple[float, float], end: tuple[float, float]) -> Self:
        """Add a straight line."""
        return self.shape("line", css, x1=start[0], y1=start[1], x2=end[0], y2=end[1])

    def text(self, css: str, x: float, y: float, text: str) -> Self:
        """Add a line of text; the classes ``middle`` and ``end`` define what ``x`` is."""
        ET.SubElement(self._root, "text", {"class": css, "x": f"{x:.1f}", "y": f"{y:.1f}"}).text = text
        return self

    def across(self, scale: Scale, ends: tuple[float, float], texts: dict[float, str]) -> Self:
        """Add horizontal lines at values of a vertical scale, labelled on the left."""
        for value, text in texts.items():
            y = scale(value)
            self.line("grid", (ends[0], y), (ends[1], y)).text("end", ends[0] - 6, y + 4, text)
        return self

    def down(self, scale: Scale, ends: tuple[float, float], texts: dict[float, str]) -> Self:
        """Add vertical lines at values of a horizontal scale, labelled below."""
        for value, text in texts.items():
            x = scale(value)
            self.line("grid", (x, ends[0]), (x, ends[1])).text("middle", x, ends[1] + 15, text)
        return self
