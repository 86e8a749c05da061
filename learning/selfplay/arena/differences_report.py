"""`suzaku arena --differences`: plays the games that are missing, and reports the figures."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from kit.errors import ConfigError
from kit.reports import write_report
from learning.runs import plots
from learning.runs.measurement import Measurement, MeasurementReport, report_text
from learning.runs.statistics import Estimate, Floats, Means
from learning.runs.store import writing
from learning.selfplay.arena.differences import (
    MODELS,
    TOGETHER,
    Difference,
    DifferencesGame,
    DifferencesPlan,
    differences_of_games,
    make_differences_plan,
    setup_of,
)

_COLUMNS: Final = "decisions", "differing decisions a game", "points"
_CONFIDENCES: Final = (0.2, 0.5, 0.8)
_COLOUR: Final = "#b5402a"
_EQUAL: Final = "#777777"

_DIVISIONS: Final[tuple[tuple[tuple[str, ...], Callable[[Difference], int]], ...]] = (
    (MODELS, lambda each: MODELS.index(each.model)),
    (("go-around 1 to 6", "go-around 7 to 12", "go-around 13 and later"), lambda each: each.go_around // 6),
    (("tenpai", "not tenpai"), lambda each: not each.tenpai),
    (("against riichi", "no riichi against"), lambda each: not each.riichi),
    (("East", "South", "West"), lambda each: each.round_index // 4),
    (
        (
            "confidence below 20 %",
            "confidence 20 to 50 %",
            "confidence 50 to 80 %",
            "confidence 80 % or more",
            "confidence unknown",
        ),
        lambda each: 4 if each.confidence is None else bisect(_CONFIDENCES, each.confidence),
    ),
)
"""Each divides all differences: the names of its parts, and the place of a difference's part among them."""


class Gain(msgspec.Struct, frozen=True):
    """The gain a game.

    Attributes:
        subset: decisions that it counts.
        differences: number of them a game.
        points: gain in points.
        reward: gain in the expected final reward: rank points of a 7-dan, or the uma of the plan.
        place: change of the expected place, below 0 is better; not defined without a predictor of places.
    """

    subset: str
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
        by: over the decisions of each subset.
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


def differences_figures(plan: DifferencesPlan, rows: Sequence[DifferencesGame]) -> DifferencesFigures:
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
    """Over all decisions, then by each division that has some; all from the same resamples of the games."""
    names = ["all", *(name for parts, _ in _DIVISIONS for name in parts)]
    firsts = np.cumsum([1, *(len(parts) for parts, _ in _DIVISIONS)]).tolist()
    sums: Floats = np.zeros((len(rows), len(names), 4))
    for number, row in enumerate(rows):
        for each in row.differences:
            parts = [0]
            for first, (division, part_of) in zip(firsts, _DIVISIONS, strict=False):
                parts.append(first + min(part_of(each), len(division) - 1))
            sums[number, parts] += (1.0, *_gains_of(each))
    means = Means(np.arange(len(rows)), sums.reshape(len(rows), -1))
    return [
        Gain(name, float(sums[:, part, 0].mean()), *(means[4 * part + column] for column in (1, 2, 3)))
        for part, name in enumerate(names)
        if not part or sums[:, part, 0].any()
    ]


def _gains_of(each: Difference) -> tuple[float, float, float]:
    return each.points, each.reward, float("nan") if each.place is None else each.place


def draw_differences(found: DifferencesFigures, path: Path) -> None:
    """Draw where the points come from, with 95 % intervals.

    Args:
        found: the figures.
        path: of the SVG file.
    """
    gains = [found.gain, *found.by]
    drawing = plots.figure(7.0, 0.9 + 0.28 * len(gains))
    axes = drawing.subplots()
    for row, gain in enumerate(gains):
        low, value, high = (each or 0.0 for each in (gain.points.low, gain.points.value, gain.points.high))
        axes.errorbar(value, row, xerr=[[value - low], [high - value]], fmt="o", color=_COLOUR, capsize=3.0)
    axes.set_yticks(range(len(gains)), [f"{gain.subset} ({gain.differences:.1f} a game)" for gain in gains])
    axes.invert_yaxis()
    axes.axvline(0.0, color=_EQUAL, linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("points gained a game")
    plots.save(drawing, path)


def text_of(report: MeasurementReport[DifferencesPlan, DifferencesFigures]) -> str:
    """The report for people."""
    plan, found = report.plan, report.figures
    one, other, points = plan.challenger.name, plan.champions.name, found.gain.points
    gains = points.verdict(f"{one} gains", f"{one} loses")
    verdict = f"{one} over {other}, points a game: {points.text(0)}: {gains}"
    cost = found.seconds_for_500
    played = (
        f"{found.games:,} {plan.length} games, seed {plan.seed}, {plan.walls} walls, "
        f"{f'horizon {plan.horizon}' if plan.horizon else 'to the end of the round'}, "
        f"{plan.compute.precision}; {found.decisions:.1f} decisions of {one} a game, "
        f"{found.faults:.2f} faults; "
        f"{found.seconds:,.0f} CPU s, {'-' if cost is None else f'{cost:,.0f}'} for ± 500 points"
    )
    columns = *_COLUMNS, plan.uma.unit if plan.uma else "rank points", "place"
    return report_text((verdict,), columns, map(_cells, (found.gain, *found.by)), played)


def _cells(gain: Gain) -> tuple[str, ...]:
    place = "" if gain.place.value is None else gain.place.text(3)
    return gain.subset, f"{gain.differences:.1f}", gain.points.text(0), gain.reward.text(1), place


DIFFERENCES: Final = Measurement(
    "differences",
    DifferencesPlan,
    DifferencesGame,
    differences_figures,
    setup_of,
    differences_of_games,
    TOGETHER,
)
"""The plan, and the row of a game."""


def compare_decisions(
    challenger: str,
    champions: str,
    folder: Path | None,
    plot: Path | None,
    *,
    report_only: bool,
    workers: int | None,
    ray: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Play, print the report, and return the exit code.

    Args:
        challenger: the player under test.
        champions: the player in the other seats.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        plot: SVG file for a plot of where the gain comes from, None for none.
        report_only: play nothing; report on the games in the folder, also of an unfinished run.
        workers: processes; one per core if None.
        ray: address of a cluster; see `learning.runs.spread.spread`.
        as_json: print one JSON object, without progress.
        given: fields of the plan.

    Raises:
        BotError: as in `make_differences_plan` and `learning.runs.measurement.Measurement.run`.
    """
    if not report_only:
        plan = make_differences_plan(challenger, champions, **given)
        report = DIFFERENCES.run(plan, folder, workers=workers, quiet=as_json, ray=ray)
    else:
        assert folder is not None, "a report is of a folder"
        report = DIFFERENCES.so_far(folder)
    code = write_report(report, text_of, as_json=as_json)
    if plot is not None:
        with writing(plot):
            draw_differences(report.figures, plot)
    return code
