"""A player's figures over many games, with their intervals, and their table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from game.ranking import Ladder, Uma, climb, stable_rank
from game.scoring.settlement import GameLength
from learning.runs.statistics import (
    Estimate,
    Floats,
    Ranges,
    Statistic,
    estimate,
    mean_place,
    ranges,
    ratio,
    resample,
)
from learning.selfplay.players import Contender
from learning.selfplay.series import GameRow, PlayedSeries
from replays.tally import PlayerTally

_OF_GAME: Final = "n1", "n2", "n3", "n4", "games", "results", "rounds", "scores"
_COLUMNS: Final = (*_OF_GAME, *PlayerTally.__struct_fields__)
_AT: Final = {name: place for place, name in enumerate(_COLUMNS)}
_LISTED: Final = 20
_MANY_FAULTS: Final = 0.01
"""Share of a player's decisions; about one in two games."""


class PlayFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of the playing itself: faults, crashes and speed.

    Attributes:
        many_faults: a sentence for each player with too many replaced decisions.
        faults: some of the decisions that had to be replaced, by game.
        crashes: games that could not be completed, with seed and reason; they count nowhere else.
        seconds: duration of this start.
        played: games of this start, without those of earlier starts.
        games_per_s: speed of this start.
        times: CPU seconds per game of this start, by task.
    """

    many_faults: tuple[str, ...]
    faults: tuple[str, ...]
    crashes: tuple[str, ...]
    seconds: float
    played: int
    games_per_s: float
    times: dict[str, float]

    @property
    def exit_code(self) -> int:
        """Exit code of the reporting command: 1 if the figures do not represent the players."""
        return 1 if self.crashes or self.many_faults else 0

    def lines(self, sides: Sequence[Side], caution: str = "") -> Iterator[str]:
        """The table of the players as text, with faults, crashes and the speed."""
        yield from (f"caution: {line}" for line in self.many_faults)
        if sides:
            yield from lines_of(sides)
        yield from (f"caution: {line}" for line in (caution,) if line)
        yield from (f"fault: {line}" for line in self.faults)
        yield from (f"crashed: {line}" for line in self.crashes)
        if self.played:
            parts = ", ".join(f"{what} {1000 * spent:.0f}" for what, spent in self.times.items())
            games = f"{self.played} game{'s' if self.played > 1 else ''}"
            speed = f"{games} in {self.seconds:.1f} s, {self.played / self.seconds:.2f} games/s"
            yield f"{speed}; CPU ms per game: {parts}"


class Side(msgspec.Struct, frozen=True):
    """Figures of one side, over all its seats, with their 95 % intervals.

    Attributes:
        name: name of the player.
        identity: identifies the player exactly.
        games: seats played; several per game if the side has several seats.
        placement: average, 1–4; 2.5 means equal strength.
        first, second, third, fourth: shares of the places.
        points: results with Tenhou's uma and oka, per game.
        rank_points: per game, by the uma.
        uma: by default, that of the Phoenix room at 7-dan, as in self-play learning with the global reward.
        stable_rank: with the quartiles of its resamples.
        ladder: the dan the player could expect on Tenhou.
        wins, deal_ins, riichi, calls, tsumo: shares of the rounds (tsumo: of the wins).
        tenpai_draws: share of the rounds that ran out of tiles.
        won_points, lost_points: per win and per deal-in, including honba and sticks.
        decisions: decisions requested; forced moves are not.
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
    rank_points: Estimate
    uma: Uma
    stable_rank: Ranges
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


def side_of(
    who: Contender, members: Collection[int], sets: Sequence[Sequence[GameRow]], length: GameLength, uma: Uma
) -> Side:
    """Compute a player's figures.

    Args:
        who: the player.
        members: its numbers in the rows.
        sets: completed games; games within a set may depend on each other, sets do not.
        length: length of the games.
        uma: what places are worth to the reader.
    """
    sums = sums_of(members, sets)
    drawn = resample(sums)
    total = sums.sum(axis=0)
    worth = np.zeros(len(_COLUMNS))
    worth[:4] = uma.by_place - uma.return_score / 1_000
    worth[_AT["scores"]] = (uma.return_score > 0) / 1_000

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
        rank_points=of(lambda sums: sums @ worth / sums[..., :4].sum(axis=-1)),
        uma=uma,
        stable_rank=ranges(sums, drawn, lambda sums: stable_rank(sums[..., :4])),
        ladder=climb(drawn[:, :4], length),
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


def sums_of(members: Collection[int], sets: Sequence[Sequence[GameRow]]) -> Floats:
    """``[S, K]``: sums over a player's seats in each set; the first four count the places."""
    sums = np.zeros((len(sets), len(_COLUMNS)), dtype=np.float64)
    for place, rows in enumerate(sets):
        for row in rows:
            for player in range(4):
                if row.players[player] in members:
                    _add(sums[place], row, player)
    return sums


def _add(sums: Floats, row: GameRow, player: int) -> None:
    sums[row.places[player] - 1] += 1
    sums[4:8] += (1, row.results[player], row.rounds, row.scores[player])
    sums[8:] += msgspec.structs.astuple(row.tallies[player])


def play_figures(played: PlayedSeries, sides: Collection[Side]) -> dict[str, Any]:
    """The fields of `PlayFigures` for games and the figures of their players."""
    rows, seconds = played.rows, played.seconds
    crashes = [f"game {row.number}, seed {row.seed}: {row.crash}" for row in rows if row.crash]
    return {
        "many_faults": tuple(
            f"{side.faults:,} of {side.decisions:,} decisions of {side.name} "
            f"({side.faults / side.decisions:.1%}) were made by the rules in its place, "
            "so these are not its figures"
            for side in sides
            if side.faults > _MANY_FAULTS * side.decisions
        ),
        "faults": tuple(f"game {row.number}: {row.fault}" for row in rows if row.fault)[:_LISTED],
        "crashes": tuple(crashes),
        "seconds": seconds,
        "played": played.played,
        "games_per_s": played.played / seconds if seconds else 0.0,
        "times": played.times,
    }


# --- for people -------------------------------------------------------------------------------------------


def lines_of(sides: Sequence[Side]) -> Iterator[str]:
    """The table as text: a line for each figure, a column for each player."""
    yield _line("", (side.name[:28] for side in sides))
    for label, field, scale, digits in _TABLE:
        named = label.replace("rank points", sides[0].uma.unit)
        yield _line(named, (getattr(side, field).text(digits, scale) for side in sides))
    yield _line("expected dan (IQR)", (_climbed(side.ladder) for side in sides))
    yield _line("decisions", (f"{side.decisions}" for side in sides))
    yield _line("faults", (f"{side.faults}" for side in sides))


def _line(label: str, cells: Iterable[str]) -> str:
    return f"{label:<22}" + "".join(f"{cell:>30}" for cell in cells)


_TABLE: Final = (
    ("average placement", "placement", 1, 3),
    ("first %", "first", 100, 1),
    ("second %", "second", 100, 1),
    ("third %", "third", 100, 1),
    ("fourth %", "fourth", 100, 1),
    ("points per game", "points", 1, 2),
    ("rank points per game", "rank_points", 1, 2),
    ("stable rank (IQR)", "stable_rank", 1, 2),
    ("wins % of rounds", "wins", 100, 1),
    ("tsumo % of wins", "tsumo", 100, 1),
    ("deal-ins %", "deal_ins", 100, 1),
    ("riichi %", "riichi", 100, 1),
    ("calls %", "calls", 100, 1),
    ("tenpai % of draws", "tenpai_draws", 100, 1),
    ("points per win", "won_points", 1, 0),
    ("points per deal-in", "lost_points", 1, 0),
)


def _climbed(ladder: Ladder) -> str:
    return f"{ladder.dan:.2f} ({ladder.first_quartile:.0f}–{ladder.third_quartile:.0f})"
