"""`suzaku arena`: plays the games of a comparison, and reports both sides' figures with their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import structlog

from game.ranking import Uma, rewards_of
from kit.errors import ReplayError
from kit.reports import write_report
from learning.runs import plots
from learning.runs.statistics import Floats, mean_place
from learning.runs.store import read_rows, writing
from learning.selfplay.arena.plan import CHALLENGER, CHAMPION, EQUAL, ArenaPlan
from learning.selfplay.figures import PlayFigures, Side, play_figures, side_of, sums_of
from learning.selfplay.series import GameRow, PlayedSeries, RecordForm, play_series

_LEAST_SETS: Final = 32
"""With fewer sets resampled intervals are too narrow, so a sign test must agree with them."""
_ERROR: Final = 0.05
_COLOURS: Final = ("#1f6fb2", "#d2691e")

_log = structlog.get_logger(__name__)


class ArenaReport(PlayFigures, frozen=True):
    """One comparison.

    Attributes:
        plan: the plan.
        games: games counted, from whole sets only.
        sets: duplicate sets counted; games if each has walls of its own.
        verdict: conclusion from the challenger's average placement.
        challenger: its figures.
        champions: their figures.
    """

    plan: ArenaPlan
    games: int
    sets: int
    verdict: str
    challenger: Side
    champions: Side

    def __str__(self) -> str:
        """The report for people."""
        return "\n".join(_lines(self))


def report(plan: ArenaPlan, played: PlayedSeries, uma: Uma | None = None) -> ArenaReport | None:
    """Report on games, with places worth an uma or a 7-dan's rank points; None while no set is complete."""
    sets = whole_sets(plan, played.rows)
    if not sets:
        return None
    uma = uma or Uma(rewards_of(plan.length))
    challenger = side_of(plan.challenger, {CHALLENGER}, sets, plan.length, uma)
    champions = side_of(plan.champions, {CHAMPION}, sets, plan.length, uma)
    return ArenaReport(
        plan=plan,
        games=len(sets) * plan.set_games,
        sets=len(sets),
        verdict=_verdict(challenger, champions, placements_of(sets)),
        challenger=challenger,
        champions=champions,
        **play_figures(played, (challenger, champions)),
    )


def whole_sets(plan: ArenaPlan, rows: Iterable[GameRow]) -> list[list[GameRow]]:
    """The duplicate sets of which every game was completed, in order."""
    sets: dict[int, list[GameRow]] = {}
    for row in rows:
        if not row.crash:
            sets.setdefault(row.number // plan.set_games, []).append(row)
    return [sets[number] for number in sorted(sets) if len(sets[number]) == plan.set_games]


def placements_of(sets: Sequence[Sequence[GameRow]]) -> Floats:
    """``[S]``: the challenger's average place in each set."""
    return mean_place(sums_of({CHALLENGER}, sets)[:, :4])


def _verdict(challenger: Side, champions: Side, placements: Floats) -> str:
    """Conclusion from the challenger's average placement, as a sentence.

    Args:
        challenger: its figures.
        champions: their figures.
        placements: ``[S]`` the challenger's average place in each set.
    """
    low, high = challenger.placement.low, challenger.placement.high
    assert low is not None and high is not None
    if len(placements) < _LEAST_SETS and _by_chance(placements) > _ERROR:
        return "too few games for a conclusion"
    if low <= EQUAL <= high:
        return "no clear difference in these games"
    return f"{challenger.name if high < EQUAL else champions.name} is stronger"


def _by_chance(placements: Floats) -> float:
    """The chance that sets of equal players lie as unevenly about the mean: a sign test."""
    better, worse = int((placements < EQUAL).sum()), int((placements > EQUAL).sum())
    count = better + worse
    tail = sum(math.comb(count, fewer) for fewer in range(min(better, worse) + 1))
    return min(1.0, 2.0 * tail / 2.0**count)


# --- for people -------------------------------------------------------------------------------------------


def _lines(found: ArenaReport) -> Iterable[str]:
    plan, one, others = found.plan, found.challenger, found.champions
    walls = (
        "each over walls of its own"
        if plan.independent
        else f"{found.sets} duplicate set{'' if found.sets == 1 else 's'}"
    )
    yield (
        f"{one.name} {plan.mode[0]} v {plan.mode[2]} {others.name}: "
        f"{found.games} {plan.length} games, {walls}, seed {plan.seed}"
    )
    yield (
        f"average placement of {one.name}: {one.placement.text(3)} "
        f"(equal strength: {EQUAL:g}): {found.verdict}"
    )
    yield from found.lines((one, others), plan.caution)


def draw_match(found: ArenaReport, path: Path) -> None:
    """Draw both sides' places with 95 % intervals, and their stable ranks as in the paper's figure 8.

    Args:
        found: the comparison.
        path: of the SVG file.

    Source: Suphx, arXiv:2003.13590, section 4.2; boxes are quartiles over resamples, whiskers 95 %.
    """
    drawing = plots.figure(7.0, 3.5)
    places, ranks = drawing.subplots(1, 2, width_ratios=(2, 1))
    for number, (side, colour) in enumerate(zip((found.challenger, found.champions), _COLOURS, strict=True)):
        for place, share in enumerate((side.first, side.second, side.third, side.fourth), 1):
            low, value, high = (100.0 * (each or 0.0) for each in (share.low, share.value, share.high))
            ends = [[value - low], [high - value]]
            places.bar(place + 0.4 * number - 0.2, value, 0.36, yerr=ends, color=colour, capsize=3.0)
        rank = side.stable_rank
        numbers = rank.value, rank.first_quartile, rank.third_quartile, rank.low, rank.high
        if None not in numbers:  # they are without fourth places
            box = dict(zip(("med", "q1", "q3", "whislo", "whishi"), numbers, strict=True))
            filled = {"facecolor": colour, "alpha": 0.4}
            ranks.bxp([box], positions=[number], showfliers=False, patch_artist=True, boxprops=filled)
    places.set_xticks(range(1, 5), ("first", "second", "third", "fourth"))
    places.set_ylabel("share of places, %")
    ranks.set_xticks((0, 1), (found.challenger.name, found.champions.name))
    ranks.set_ylabel("stable rank (dan)")
    for part, colour in zip(ranks.get_xticklabels(), _COLOURS, strict=True):
        part.set_color(colour)
    for axes in (places, ranks):
        axes.grid(axis="y", alpha=0.3)
    plots.save(drawing, path)


# --- the command ------------------------------------------------------------------------------------------


def compare(
    plan: ArenaPlan,
    folder: Path | None,
    plot: Path | None,
    *,
    uma: Uma | None,
    records: bool,
    workers: int | None,
    ray: str | None,
    as_json: bool,
) -> int:
    """Play, print the report, and return the exit code.

    Args:
        plan: the players and games.
        folder: folder of the results, None to keep none.
        plot: SVG file for a plot of places and stable ranks, None for none.
        uma: what places are worth, None for a 7-dan's rank points.
        records: also keep every game's record in the folder.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.runs.spread.spread`.
        as_json: print one JSON object.

    Raises:
        ConfigError: the folder or the cluster is not valid.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not continue.
    """
    if plan.caution:
        _log.warning("arena.caution", reason=plan.caution)
    form: RecordForm | None = "mjlog" if records else None
    found = report(plan, play_series(plan, folder, form, title="arena", workers=workers, ray=ray), uma)
    return _show(found, plot, "no set of games could be completed; see the log", as_json=as_json)


def show_played(folder: Path, plot: Path | None, *, uma: Uma | None, as_json: bool) -> int:
    """Print the report on the games in a folder, finished or still being played, and return the exit code.

    Args:
        folder: folder of the results.
        plot: SVG file for a plot of places and stable ranks, None for none.
        uma: what places are worth, None for a 7-dan's rank points.
        as_json: print one JSON object.

    Raises:
        ReplayError: results cannot be read, or the plot cannot be written.
    """
    plan, rows = read_rows(folder, ArenaPlan, GameRow)
    found = report(plan, PlayedSeries(rows), uma)
    return _show(found, plot, f"{folder}: no set of games is complete yet", as_json=as_json)


def _show(found: ArenaReport | None, plot: Path | None, missing: str, *, as_json: bool) -> int:
    if found is None:
        raise ReplayError(missing)
    code = write_report(found, as_json=as_json)
    if plot is not None:
        with writing(plot):
            draw_match(found, plot)
    return code
