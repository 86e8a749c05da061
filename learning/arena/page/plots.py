"""The plots of a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, Self
from xml.etree import ElementTree as ET

from learning.arena.plan import EQUAL
from learning.arena.report import RunningAverage
from learning.matches.figures import Side
from learning.matches.statistics import Estimate

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


_CSS: Final = ("challenger", "champions")
_LEFT: Final = 42.0
_RIGHT: Final = WIDTH - 8.0
_PLACES: Final = ("first", "second", "third", "fourth")
_DANS: Final = (*(str(dan) for dan in range(1, 11)), "T")
_NAME: Final = 40
"""Letters of a name that fit into a plot."""


def placements_plot(sides: Sequence[Side]) -> Drawing:
    """Share of each place, by side."""
    shares = [[getattr(side, place) for place in _PLACES] for side in sides]
    most = max(share.high or 0.0 for found in shares for share in found)
    scale = Scale(0.0, max(most * 1.04, 0.1), 176.0, 10.0)
    drawing = Drawing(200.0, "Share of each place, by player")
    drawing.across(scale, (_LEFT, _RIGHT), _percent(scale.ticks()))
    for number, place in enumerate(_PLACES):
        middle = _column(number, len(_PLACES))
        drawing.text("middle", middle, 194.0, place)
        for css, side, found, shift in zip(_CSS, sides, shares, (-27.0, 3.0), strict=True):
            _bar(drawing, css, (middle + shift, 24.0), scale, found[number], f"{side.name}, {place}")
    return drawing


def convergence_plot(averages: Sequence[RunningAverage]) -> Drawing:
    """Convergence of the challenger's average placement."""
    # the first games vary widely; the scale is set by the rest
    settled = averages[len(averages) // 12 :]
    low = min(EQUAL, *(average.low for average in settled))
    high = max(EQUAL, *(average.high for average in settled))
    margin = 0.06 * (high - low) or 0.1
    down = Scale(low - margin, high + margin, 10.0, 176.0)
    across = Scale(0.0, float(averages[-1].games), _LEFT, _RIGHT - 10.0)
    drawing = Drawing(200.0, "The challenger's average placement over the games, with its 95 % interval")
    ticks = down.ticks()
    digits = 1 if ticks[1] - ticks[0] > 0.09 else 2 if ticks[1] - ticks[0] > 0.009 else 3
    drawing.across(down, (_LEFT, _RIGHT), {tick: f"{tick:.{digits}f}" for tick in ticks})
    drawing.down(across, (176.0, 176.0), {tick: f"{tick:,.0f}" for tick in across.ticks(4)})
    there = [f"{across(average.games):.1f},{down(average.high):.1f}" for average in averages]
    back = [f"{across(average.games):.1f},{down(average.low):.1f}" for average in reversed(averages)]
    drawing.shape("polygon", "band", points=" ".join(there + back))
    drawing.line("equal", (_LEFT, down(EQUAL)), (_RIGHT, down(EQUAL)))
    middle = " ".join(f"{across(average.games):.1f},{down(average.placement):.1f}" for average in averages)
    return drawing.shape("polyline", "convergence", points=middle)


def stable_rank_plot(sides: Sequence[Side]) -> Drawing:
    """Boxes of the stable rank over the resamples."""
    drawing = Drawing(160.0, "Stable rank over the resamples, by player")
    ends = [end for side in sides for end in (side.stable_rank.low, side.stable_rank.high) if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    margin = 0.08 * (high - low) or 0.5
    scale = Scale(low - margin, high + margin, 12.0, _RIGHT - 4.0)
    drawing.down(scale, (8.0, 136.0), {tick: f"{tick:g}" for tick in scale.ticks()})
    for css, side, top in zip(_CSS, sides, (12.0, 74.0), strict=True):
        drawing.text("name", 12.0, top + 12.0, _short(side.name))
        _box(drawing, css, side, scale, top + 20.0)
    return drawing


def ladder_plot(sides: Sequence[Side]) -> Drawing:
    """Final dan of simulated players on the rank ladder."""
    most = max(share for side in sides for share in side.ladder.shares)
    scale = Scale(0.0, most * 1.04, 176.0, 10.0)
    drawing = Drawing(200.0, "Share of players at each dan, by player compared")
    drawing.across(scale, (_LEFT, _RIGHT), _percent(scale.ticks()))
    for number, dan in enumerate(_DANS):
        middle = _column(number, len(_DANS))
        drawing.text("middle", middle, 194.0, dan)
        for css, side, shift in zip(_CSS, sides, (-10.0, 1.0), strict=True):
            share = side.ladder.shares[number]
            where = {
                "x": middle + shift,
                "y": scale(share),
                "width": 9.0,
                "height": scale(0.0) - scale(share),
            }
            drawing.shape("rect", css, f"{side.name}, {dan}: {share:.1%}", **where)
    return drawing


def _column(number: int, columns: int) -> float:
    """The middle of a column."""
    return _LEFT + (_RIGHT - _LEFT) * (number + 0.5) / columns


def _percent(ticks: Sequence[float]) -> dict[float, str]:
    return {tick: f"{100 * tick:g} %" for tick in ticks}


def _short(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _bar(
    drawing: Drawing, css: str, across: tuple[float, float], scale: Scale, share: Estimate, tip: str
) -> None:
    """A bar with its interval; ``across`` is its left edge and its width."""
    left, width = across
    value, low, high = share.value or 0.0, share.low or 0.0, share.high or 0.0
    tip = f"{tip}: {100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"
    drawing.shape("rect", css, tip, x=left, y=scale(value), width=width, height=scale(0.0) - scale(value))
    drawing.line("whisker", (left + width / 2, scale(low)), (left + width / 2, scale(high)))


def _box(drawing: Drawing, css: str, side: Side, scale: Scale, top: float) -> None:
    """The middle half as a box, 95 % as whiskers, the value as a line."""
    found = side.stable_rank
    if (
        found.value is None
        or found.first_quartile is None
        or found.third_quartile is None
        or found.low is None
        or found.high is None
    ):
        drawing.text("note", 12.0, top + 16.0, "undefined: too few fourth places")
        return
    middle = top + 12.0
    drawing.line("whisker", (scale(found.low), middle), (scale(found.high), middle))
    left, right = scale(found.first_quartile), scale(found.third_quartile)
    half = f"{found.first_quartile:.2f}–{found.third_quartile:.2f}"
    tip = f"{side.name}: {found.value:.2f}, half of the resamples in {half}"
    drawing.shape("rect", css, tip, x=left, y=top, width=max(2.0, right - left), height=24.0)
    drawing.line("median", (scale(found.value), top - 2.0), (scale(found.value), top + 26.0))
