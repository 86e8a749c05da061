"""The report of a comparison: both sides' figures with their intervals, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from learning.arena.plan import CHALLENGER, CHAMPION, EQUAL, ArenaPlan
from learning.matches.figures import (
    PlayFigures,
    Side,
    crashes_in,
    faults_in,
    many_faults_of,
    side_of,
    sums_of,
    table_of,
)
from learning.matches.statistics import LEAST_SETS, NORMAL, Floats, first_clear, mean_place
from learning.matches.tally import GameRow

POINTS: Final = 120


class RunningAverage(msgspec.Struct, frozen=True):
    """The average after some games.

    Attributes:
        games: their number.
        placement: the challenger's average.
        low, high: its 95 % interval by the normal distribution, clipped to 1 and 4.
    """

    games: int
    placement: float
    low: float
    high: float


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
    sequential: bool = False,
    seconds: float = 0.0,
    played: int = 0,
    times: dict[str, float] | None = None,
) -> ArenaReport | None:
    """Report on games; None while no duplicate set is complete.

    Args:
        plan: plan of the games.
        rows: the games.
        sequential: ignore games past the point where the difference was clear.
        seconds: duration.
        played: games of this start.
        times: CPU seconds per game, by task.
    """
    numbered = {row.number: row for row in sorted(rows, key=lambda row: row.number)}
    clear = clear_after(plan, numbered) if sequential else None
    rows = [row for number, row in numbered.items() if clear is None or number < clear]
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
        clear=clear is not None,
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


def clear_after(plan: ArenaPlan, rows: Mapping[int, GameRow]) -> int | None:
    """Number of games in the first whole blocks after which the difference is clear, in any order of play."""
    looks: dict[int, int] = {}
    seen: list[GameRow] = []
    for block in range(plan.blocks):
        numbers = plan.numbers(block)
        if not all(number in rows for number in numbers):
            break
        seen += [rows[number] for number in numbers]
        looks[len(whole_sets(plan, seen))] = numbers.stop
    if not looks:
        return None
    count = first_clear(placements_of(whole_sets(plan, seen)), EQUAL, sorted(looks))
    return None if count is None else looks[count]


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


def convergence(placements: Floats, set_games: int) -> tuple[RunningAverage, ...]:
    """The average after increasing numbers of games, up to all.

    Args:
        placements: ``[S]``: the challenger's average place in each set, in order.
        set_games: games per set.

    Returns:
        At most `POINTS` states, from the second set on; a single set gives no estimate of the spread.
    """
    if len(placements) < 2:
        return ()
    counts = np.unique(np.linspace(2, len(placements), POINTS).astype(np.int64))
    means = np.cumsum(placements)[counts - 1] / counts
    squares = np.cumsum(placements**2)[counts - 1] / counts
    deviations = np.sqrt(np.maximum(0.0, squares - means**2) * counts / (counts - 1))
    reach = NORMAL * deviations / np.sqrt(counts)
    low, high = np.maximum(1.0, means - reach), np.minimum(4.0, means + reach)
    rows = zip((counts * set_games).tolist(), means.tolist(), low.tolist(), high.tolist(), strict=True)
    return tuple(RunningAverage(*row) for row in rows)


# --- for people -------------------------------------------------------------------------------------------


def headline(found: ArenaReport) -> str:
    """The players, the games and their walls, in one line."""
    plan = found.plan
    walls = (
        "each over walls of its own"
        if plan.independent
        else f"{found.sets} duplicate set{'' if found.sets == 1 else 's'}"
    )
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
    yield from found.lines((found.challenger, found.champions), found.plan.caution)
