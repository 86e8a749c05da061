"""The report of a comparison: both sides' figures with their intervals, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from learning.arena.convergence import RunningAverage, convergence
from learning.arena.plan import CHALLENGER, CHAMPION, EQUAL, ArenaPlan
from learning.matches.figures import (
    PlayFigures,
    Side,
    crashes_in,
    faults_in,
    lines_of,
    many_faults_of,
    side_of,
    speed_line,
    sums_of,
    table_of,
)
from learning.matches.statistics import LEAST_SETS, Floats, mean_place
from learning.matches.tally import GameRow


class ArenaReport(PlayFigures, frozen=True):
    """One comparison.

    Attributes:
        plan: the plan.
        games: games counted, from whole sets only.
        sets: duplicate sets counted; games if each has walls of its own.
        clear: whether it ended early because the difference was clear; only in a sequential run.
        verdict: conclusion from the challenger's average placement.
        challenger: its figures.
        champions: their figures.
        convergence: development over the games of the challenger's average placement.
    """

    plan: ArenaPlan
    games: int
    sets: int
    clear: bool
    verdict: str
    challenger: Side
    champions: Side
    convergence: tuple[RunningAverage, ...] = msgspec.field(default=(), name="course")

    def __str__(self) -> str:
        """The report for people."""
        return "\n".join(_lines(self))


def report(
    plan: ArenaPlan,
    rows: Iterable[GameRow],
    *,
    clear: bool = False,
    seconds: float = 0.0,
    played: int = 0,
    times: dict[str, float] | None = None,
) -> ArenaReport | None:
    """Report on games; None while no duplicate set is complete.

    Args:
        plan: plan of the games.
        rows: the games.
        clear: whether the run ended early because the difference was clear.
        seconds: duration.
        played: games of this start.
        times: CPU seconds per game, by task.
    """
    rows = sorted(rows, key=lambda row: row.number)
    sets = whole_sets(plan, rows)
    if not sets:
        return None
    counts = sums_of({CHALLENGER}, sets)[:, :4]
    challenger = side_of(plan.challenger, {CHALLENGER}, sets, plan.length)
    champions = side_of(plan.champions, {CHAMPION}, sets, plan.length)
    return ArenaReport(
        plan=plan,
        games=len(sets) * plan.set_games,
        sets=len(sets),
        clear=clear,
        verdict=verdict(challenger, champions, len(sets)),
        challenger=challenger,
        champions=champions,
        many_faults=many_faults_of((challenger, champions)),
        faults=faults_in(rows),
        crashes=crashes_in(rows),
        seconds=seconds,
        played=played,
        games_per_s=played / seconds if seconds else 0.0,
        times=times or {},
        convergence=convergence(mean_place(counts), plan.set_games),
    )


def whole_sets(plan: ArenaPlan, rows: Iterable[GameRow]) -> list[list[GameRow]]:
    """The duplicate sets of which every game was completed, in order."""
    sets: dict[int, list[GameRow]] = {}
    for row in rows:
        if not row.crash:
            sets.setdefault(row.number // plan.set_games, []).append(row)
    return [sets[number] for number in sorted(sets) if len(sets[number]) == plan.set_games]


def verdict(challenger: Side, champions: Side, sets: int) -> str:
    """Conclusion from the challenger's average placement, as a sentence.

    Args:
        challenger: its figures.
        champions: their figures.
        sets: number of duplicate sets, or of single games, behind the figures.
    """
    placement = challenger.placement
    if placement.value is None or placement.low is None or placement.high is None:
        return "no conclusion is possible yet"
    if placement.low == placement.high:
        return "every set ended the same way, so the uncertainty is unknown"
    if sets < LEAST_SETS:
        return "too few games for a conclusion"
    if placement.high < EQUAL:
        return f"{challenger.name} is stronger"
    if placement.low > EQUAL:
        return f"{champions.name} is stronger"
    return "no clear difference in these games"


def placements_of(sets: Sequence[Sequence[GameRow]]) -> Floats:
    """``[S]``: the challenger's average place in each set."""
    return mean_place(sums_of({CHALLENGER}, sets)[:, :4])


# --- for people -------------------------------------------------------------------------------------------


def headline(found: ArenaReport) -> str:
    """The players, the games and their walls, in one line."""
    plan = found.plan
    walls = "each over walls of its own" if plan.independent else f"{found.sets} duplicate sets"
    return (
        f"{found.challenger.name} {plan.mode[0]} v {plan.mode[2]} {found.champions.name}: "
        f"{found.games} {plan.length} games, {walls}, seed {plan.seed}"
        f"{', stopped because the difference was clear' if found.clear else ''}"
    )


def _lines(found: ArenaReport) -> Iterable[str]:
    yield headline(found)
    placement = next(table_of((found.challenger,)))[1][0]
    yield (
        f"average placement of {found.challenger.name}: {placement.value} {placement.interval} "
        f"(equal strength: {EQUAL:g}): {found.verdict}"
    )
    yield from (f"caution: {line}" for line in found.many_faults)
    yield from lines_of((found.challenger, found.champions))
    if found.plan.caution:
        yield f"caution: {found.plan.caution}"
    yield from (f"fault: {line}" for line in found.faults)
    yield from (f"crashed: {line}" for line in found.crashes)
    if found.played:
        yield speed_line(found.played, found.seconds, found.times)
