"""The plots of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from learning.arena.page.drawing import WIDTH, Drawing, Scale
from learning.arena.plan import EQUAL
from learning.arena.report import RunningAverage
from learning.matches.figures import Side
from learning.matches.statistics import Estimate

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
