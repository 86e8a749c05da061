"""The figures of a comparison by differences, and their plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from kit.distribution import require
from kit.errors import ConfigError
from learning import plots
from learning.arena.differences.plan import Difference, DifferencesGame, DifferencesPlan
from learning.matches.statistics import Estimate, Floats, estimate, ratio, resample

_SURE: Final = (0.2, 0.5, 0.8)
_COLOUR: Final = "#b5402a"
_EQUAL: Final = "#777777"


class Gain(msgspec.Struct, frozen=True):
    """What is gained a game.

    Attributes:
        of: decisions that it counts.
        differences: number of them a game.
        points: gain in points.
        reward: gain in the expected final reward.
        place: change of the expected place, below 0 is better; not defined if nothing says places.
    """

    of: str
    differences: float
    points: Estimate
    reward: Estimate
    place: Estimate


class DifferencesFigures(msgspec.Struct, frozen=True):
    """The figures.

    Attributes:
        games: number of games.
        decisions: of the challenger, a game.
        faults: decisions a game at which the rules chose for one of the players.
        gain: over all decisions.
        by: where it comes from.
        seconds: CPU time in all.
        seconds_for_500: CPU time after which the 95 % interval of the points would be ± 500.
    """

    games: int
    decisions: float
    faults: float
    gain: Gain
    by: tuple[Gain, ...]
    seconds: float
    seconds_for_500: float | None


def _turn(each: Difference) -> str:
    return (
        "go-around 1 to 6"
        if each.go_around < 6
        else "go-around 7 to 12"
        if each.go_around < 12
        else "go-around 13 and later"
    )


def _wind(each: Difference) -> str:
    return ("East", "South", "West")[min(each.round_index // 4, 2)]


def _sureness(each: Difference) -> str:
    sure = each.sure
    if sure is None:
        return "sureness unknown"
    return next(
        (f"sure by less than {limit}" for limit in _SURE if sure < limit), f"sure by {_SURE[-1]} or more"
    )


_DIVISIONS: Final[tuple[Callable[[Difference], str], ...]] = (
    lambda each: each.model,
    _turn,
    lambda each: "tenpai" if each.tenpai else "not tenpai",
    lambda each: "against riichi" if each.riichi else "no riichi against",
    _wind,
    _sureness,
)
"""Each divides all differences."""


def figures_of(plan: DifferencesPlan, rows: Sequence[DifferencesGame]) -> DifferencesFigures:
    """The figures of some games.

    Args:
        plan: their plan.
        rows: the games.

    Raises:
        ConfigError: there are none.
    """
    if not rows:
        raise ConfigError("no game is complete yet; wait for the run")
    gain, *by = _gains(rows)
    seconds = sum(row.seconds for row in rows)
    width = (gain.points.high or 0.0) - (gain.points.low or 0.0)
    return DifferencesFigures(
        games=len(rows),
        decisions=sum(row.decisions for row in rows) / len(rows),
        faults=sum(row.faults for row in rows) / len(rows),
        gain=gain,
        by=tuple(by),
        seconds=round(seconds, 1),
        seconds_for_500=seconds * (width / 1000.0) ** 2 if width else None,
    )


def _gains(rows: Sequence[DifferencesGame]) -> list[Gain]:
    """Over all decisions, then by each division; all from the same resamples of the games."""
    names = ["all"]
    for part_of in _DIVISIONS:
        names += sorted({part_of(each) for row in rows for each in row.differences})
    sums: Floats = np.zeros((len(rows), len(names), 4))
    for number, row in enumerate(rows):
        for each in row.differences:
            parts = [0, *(names.index(part_of(each)) for part_of in _DIVISIONS)]
            sums[number, parts] += (1.0, *_worth(each))
    games = np.concatenate([np.ones((len(rows), 1)), sums.reshape(len(rows), -1)], axis=1)
    drawn = resample(games)
    return [
        Gain(
            name,
            float(sums[:, part, 0].mean()),
            *(estimate(games, drawn, ratio(1 + 4 * part + column, 0)) for column in (1, 2, 3)),
        )
        for part, name in enumerate(names)
    ]


def _worth(each: Difference) -> tuple[float, float, float]:
    return each.points, each.reward, float("nan") if each.place is None else each.place


def draw_differences(found: DifferencesFigures, path: Path) -> None:
    """Draw where the points come from, with 95 % intervals.

    Args:
        found: the figures.
        path: of the SVG file.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    require("matplotlib", "--plot")
    gains = [found.gain, *found.by]
    drawing = plots.figure(7.0, 0.9 + 0.28 * len(gains))
    axes = drawing.subplots()
    for row, gain in enumerate(gains):
        low, value, high = (each or 0.0 for each in (gain.points.low, gain.points.value, gain.points.high))
        axes.errorbar(value, row, xerr=[[value - low], [high - value]], fmt="o", color=_COLOUR, capsize=3.0)
    axes.set_yticks(range(len(gains)), [f"{gain.of} ({gain.differences:.1f} a game)" for gain in gains])
    axes.invert_yaxis()
    axes.axvline(0.0, color=_EQUAL, linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("points gained a game")
    plots.save(drawing, path)
