"""What a comparison says: both sides' figures with their intervals, for people and for machines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import numpy as np

from game.ranking import stable_rank
from learning.arena.plan import CHALLENGER, CHAMPION, Plan
from learning.arena.tally import GameRow
from learning.ladder import Ladder, climb
from learning.statistics import (
    Estimate,
    Floats,
    Spread,
    Statistic,
    estimate,
    mean_place,
    ratio,
    resample,
    spread,
)
from replays.tally import SeatTally

_COLUMNS: Final = ("n1", "n2", "n3", "n4", "games", "results", "rounds", *SeatTally.__struct_fields__)
_AT: Final = {name: place for place, name in enumerate(_COLUMNS)}
_LISTED: Final = 20


class Side(msgspec.Struct, frozen=True):
    """How one side did, over every seat it had; numbers with their 95 % intervals.

    Attributes:
        name: of the player.
        identity: which one exactly.
        games: seats played, several a game where the side has several.
        placement: average, 1–4; 2.5 is equal to the others.
        first, second, third, fourth: shares of the places.
        points: results with Tenhou's uma and oka, per game.
        stable_rank: with the quartiles of its resamplings.
        ladder: the dan he could expect on Tenhou.
        wins, deal_ins, riichi, calls, tsumo: shares of the rounds (tsumo: of the wins).
        tenpai_draws: share of the rounds run out of tiles.
        won_points, lost_points: per win and per deal-in, honba and sticks included.
        decisions: asked for; forced moves are not.
        faults: decisions that had to be replaced.
    """

    name: str
    identity: str
    games: int
    placement: Estimate
    first: Estimate
    second: Estimate
    third: Estimate
    fourth: Estimate
    points: Estimate
    stable_rank: Spread
    ladder: Ladder
    wins: Estimate
    tsumo: Estimate
    deal_ins: Estimate
    riichi: Estimate
    calls: Estimate
    tenpai_draws: Estimate
    won_points: Estimate
    lost_points: Estimate
    decisions: int
    faults: int


class Report(msgspec.Struct, frozen=True):
    """One comparison.

    Attributes:
        plan: what was to be played.
        games: counted: of whole sets only.
        sets: duplicate sets counted.
        clear: why it ended before its plan did: the difference was clear; only asked for in a sequential run.
        challenger: his figures.
        champions: theirs.
        faults: some decisions that had to be replaced, by game.
        crashes: games that could not be played to their end, with seed and reason; their sets do not count.
        seconds: this run took.
        played: games this run played; the others were there before.
        games_per_s: of this run.
        times: seconds on a core per game of this run, by what they were spent on.
    """

    plan: Plan
    games: int
    sets: int
    clear: bool
    challenger: Side
    champions: Side
    faults: tuple[str, ...]
    crashes: tuple[str, ...]
    seconds: float
    played: int
    games_per_s: float
    times: dict[str, float]


def report(
    plan: Plan,
    rows: Iterable[GameRow],
    *,
    clear: bool = False,
    seconds: float = 0.0,
    played: int = 0,
    times: dict[str, float] | None = None,
) -> Report | None:
    """What the games say; None while no duplicate set is complete."""
    rows = sorted(rows, key=lambda row: row.number)
    sets = whole_sets(plan, rows)
    if not sets:
        return None
    return Report(
        plan=plan,
        games=len(sets) * plan.set_games,
        sets=len(sets),
        clear=clear,
        challenger=_side(plan, sets, CHALLENGER),
        champions=_side(plan, sets, CHAMPION),
        faults=tuple(f"game {row.number}: {row.fault}" for row in rows if row.fault)[:_LISTED],
        crashes=tuple(f"game {row.number}, seed {row.seed}: {row.crash}" for row in rows if row.crash),
        seconds=seconds,
        played=played,
        games_per_s=played / seconds if seconds else 0.0,
        times=times or {},
    )


def whole_sets(plan: Plan, rows: Iterable[GameRow]) -> list[list[GameRow]]:
    """The duplicate sets of which every game was played to its end, in order."""
    sets: dict[int, list[GameRow]] = {}
    for row in rows:
        if not row.crash:
            sets.setdefault(row.number // plan.set_games, []).append(row)
    return [sets[number] for number in sorted(sets) if len(sets[number]) == plan.set_games]


def placements_of(sets: Sequence[Sequence[GameRow]]) -> Floats:
    """``[S]``: the challenger's average place in each set."""
    return mean_place(_sums(sets, CHALLENGER)[:, :4])


def _side(plan: Plan, sets: Sequence[Sequence[GameRow]], side: int) -> Side:
    who = plan.challenger if side == CHALLENGER else plan.champions
    sums = _sums(sets, side)
    drawn = resample(sums)
    total = sums.sum(axis=0)

    def of(statistic: Statistic) -> Estimate:
        return estimate(sums, drawn, statistic)

    def share(part: str, whole: str, scale: float = 1.0) -> Estimate:
        return of(ratio(_AT[part], _AT[whole], scale))

    return Side(
        name=who.name,
        identity=who.identity,
        games=int(total[_AT["games"]]),
        placement=of(lambda sums: mean_place(sums[..., :4])),
        first=share("n1", "games"),
        second=share("n2", "games"),
        third=share("n3", "games"),
        fourth=share("n4", "games"),
        points=share("results", "games", 0.1),
        stable_rank=spread(sums, drawn, lambda sums: stable_rank(sums[..., :4])),
        ladder=climb(drawn[:, :4], plan.length),
        wins=share("wins", "rounds"),
        tsumo=share("tsumo", "wins"),
        deal_ins=share("deal_ins", "rounds"),
        riichi=share("riichi", "rounds"),
        calls=share("calls", "rounds"),
        tenpai_draws=share("tenpai_draws", "draws"),
        won_points=share("won_points", "wins"),
        lost_points=share("lost_points", "deal_ins"),
        decisions=int(total[_AT["decisions"]]),
        faults=int(total[_AT["faults"]]),
    )


def _sums(sets: Sequence[Sequence[GameRow]], side: int) -> Floats:
    """``[S, K]``: what a side's seats add up to in each set."""
    sums = np.zeros((len(sets), len(_COLUMNS)), dtype=np.float64)
    for place, rows in enumerate(sets):
        for row in rows:
            for seat in range(4):
                if row.players[seat] == side:
                    _add(sums[place], row, seat)
    return sums


def _add(sums: Floats, row: GameRow, seat: int) -> None:
    sums[row.places[seat] - 1] += 1
    sums[4:7] += (1, row.results[seat], row.rounds)
    sums[7:] += msgspec.structs.astuple(row.seats[seat])


# --- for people -------------------------------------------------------------------------------------------


def print_report(found: Report, *, as_json: bool) -> int:
    """Write the report to stdout; 1 if a game crashed."""
    text = (
        msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
        if as_json
        else "\n".join(_lines(found))
    )
    sys.stdout.write(text + "\n")
    return 1 if found.crashes else 0


def _lines(found: Report) -> Iterable[str]:
    plan, challenger, champions = found.plan, found.challenger, found.champions
    yield (
        f"{challenger.name} {plan.mode[0]} v {plan.mode[2]} {champions.name}: "
        f"{found.games} {plan.length} games, {found.sets} duplicate sets, seed {plan.seed}"
        f"{', stopped as the difference was clear' if found.clear else ''}"
    )
    yield f"{'':<22}{challenger.name[:30]:>30}{champions.name[:30]:>30}"
    for label, field, scale, digits in _TABLE:
        left, right = (_cell(getattr(side, field), scale, digits) for side in (challenger, champions))
        yield f"{label:<22}{left:>30}{right:>30}"
    yield f"{'expected dan (IQR)':<22}{_climbed(challenger):>30}{_climbed(champions):>30}"
    yield f"{'decisions, faults':<22}{_counts(challenger):>30}{_counts(champions):>30}"
    yield from (f"fault: {line}" for line in found.faults)
    yield from (f"crashed: {line}" for line in found.crashes)
    if found.played:
        yield (
            f"{found.played} games in {found.seconds:.1f} s, {found.games_per_s:.2f} games/s; "
            "ms on a core for each game: "
            + ", ".join(f"{what} {1000 * spent:.0f}" for what, spent in found.times.items())
        )


_TABLE: Final = (
    ("average placement", "placement", 1, 3),
    ("first %", "first", 100, 1),
    ("second %", "second", 100, 1),
    ("third %", "third", 100, 1),
    ("fourth %", "fourth", 100, 1),
    ("points a game", "points", 1, 2),
    ("stable rank (IQR)", "stable_rank", 1, 2),
    ("wins % of rounds", "wins", 100, 1),
    ("tsumo % of wins", "tsumo", 100, 1),
    ("deal-ins %", "deal_ins", 100, 1),
    ("riichi %", "riichi", 100, 1),
    ("calls %", "calls", 100, 1),
    ("tenpai % of draws", "tenpai_draws", 100, 1),
    ("points a win", "won_points", 1, 0),
    ("points a deal-in", "lost_points", 1, 0),
)


def _cell(number: Estimate | Spread, scale: float, digits: int) -> str:
    value, low, high = (
        "–" if part is None else f"{scale * part:.{digits}f}" for part in msgspec.structs.astuple(number)
    )
    return f"{value}  [{low}, {high}]"


def _climbed(side: Side) -> str:
    ladder = side.ladder
    return f"{ladder.dan:.2f}  [{ladder.first_quartile:.0f}, {ladder.third_quartile:.0f}]"


def _counts(side: Side) -> str:
    return f"{side.decisions}, {side.faults}"
