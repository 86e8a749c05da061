"""`suzaku selfplay`: games between any mix of players, kept as records to learn from."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from game.events import Four
from game.ranking import Uma, rewards_of
from game.table.walls import wall_seed
from kit.errors import ConfigError
from kit.options import INTERNAL, Count, flag
from kit.reports import write_report
from learning.selfplay.engines import ANSWER_S
from learning.selfplay.figures import PlayFigures, Side, play_figures, side_of
from learning.selfplay.players import Contender, contender, names_in
from learning.selfplay.series import RECORDS_FOLDER, GameRow, PlayedSeries, RecordForm, Series, play_series
from policies.play.rollout import Seating

FORMAT: Final = "suzaku-selfplay/2"

Players: TypeAlias = tuple[Contender, Contender, Contender, Contender]
_GROUPS: Final = 1_000
"""Maximum number of groups for resampling: as independent as single games, and faster to draw."""


class SelfPlay(Series, frozen=True, kw_only=True):
    """Everything that determines the games.

    Attributes:
        players: the players; they are seated in every order in turn.
        games: number of games, each over walls of its own.
        form: format of the records.
        format: format of the results.
    """

    players: Annotated[Players, INTERNAL]
    games: Count
    form: Annotated[RecordForm, flag("--format")] = "mjlog"
    format: Annotated[str, INTERNAL] = FORMAT

    @property
    def contenders(self) -> Players:
        """The four players of a game."""
        return self.players

    @property
    def identity(self) -> str:
        """Distinguishes these games from those of other plans."""
        return f"selfplay {self.seed} {' '.join(who.identity for who in self.players)} {self.length}"

    @property
    def flags(self) -> dict[str, str]:
        """The options that give this plan, as text."""
        return {"--players": ",".join(who.flag for who in self.players)} | super().flags

    def seating(self, number: int) -> Seating:
        """Game ``number``: its walls and its seating."""
        orders = self._orders
        return Seating(number, wall_seed("selfplay", self.seed, number), orders[number % len(orders)])

    @property
    def _orders(self) -> Sequence[Four]:
        """All seatings that differ for these four players, with the rotations of each together."""
        first, *others = (self.players.index(who) for who in self.players)
        orders: dict[Four, None] = {}
        for a, b, c in itertools.permutations(others):
            orders |= dict.fromkeys(((first, a, b, c), (c, first, a, b), (b, c, first, a), (a, b, c, first)))
        return tuple(orders)


class SelfPlaySummary(PlayFigures, frozen=True):
    """Result of a run.

    Attributes:
        plan: the plan.
        records: folder of the records.
        games: games played to the end.
        rounds: rounds in these games.
        players: figures of each player; a player in several seats is listed once.
    """

    plan: SelfPlay
    records: str
    games: int
    rounds: int
    players: tuple[Side, ...]

    def __str__(self) -> str:
        """The summary for people."""
        return "\n".join(_lines(self))


def players_of(texts: Sequence[str], answer_s: float = ANSWER_S) -> Players:
    """Load the players: one for all seats, or four.

    Args:
        texts: names separated by commas; an engine, whose command may contain commas, is a text of its own.
        answer_s: seconds for each answer of an external engine.

    Raises:
        ConfigError: the number of players is neither one nor four, or a name is not a player.
        CheckpointError: a folder's checkpoints cannot be used.
    """
    names = names_in(texts)
    if len(names) not in {1, 4}:
        raise ConfigError(f"--players: {len(names)} ({', '.join(names)}); give one for all seats, or four")
    found = {name: contender(name, answer_s) for name in dict.fromkeys(names)}
    first, second, third, fourth = (found[name] for name in (names * 4)[:4])
    return first, second, third, fourth


def summary(plan: SelfPlay, folder: Path, played: PlayedSeries) -> SelfPlaySummary:
    """Summarise games.

    Args:
        plan: plan of the games.
        folder: folder of results and records.
        played: the games.
    """
    whole = [row for row in played.rows if not row.crash]
    players = tuple(_sides(plan, whole))
    return SelfPlaySummary(
        plan=plan,
        records=str(folder / RECORDS_FOLDER),
        games=len(whole),
        rounds=sum(row.rounds for row in whole),
        players=players,
        **play_figures(played, players),
    )


def play(plan: SelfPlay, folder: Path, *, workers: int | None, ray: str | None, as_json: bool) -> int:
    """Play the games that are missing, print a summary of all, and return the exit code.

    Args:
        plan: the games to play.
        folder: folder of results and records; an earlier run in it is resumed.
        workers: as in `learning.selfplay.series.play_series`.
        ray: as there.
        as_json: print one JSON object.

    Raises:
        BotError: as there.
    """
    played = play_series(plan, folder, plan.form, title="selfplay", workers=workers, ray=ray)
    return write_report(summary(plan, folder, played), as_json=as_json)


def _lines(found: SelfPlaySummary) -> Iterator[str]:
    plan = found.plan
    games = f"{plan.length} game{'s' if found.games != 1 else ''}"
    yield f"{found.games} {games}, {found.rounds} rounds, seed {plan.seed}: {found.records}"
    yield from found.lines(found.players)


def _sides(plan: SelfPlay, rows: Sequence[GameRow]) -> Iterator[Side]:
    if not rows:
        return
    size = -(-len(rows) // _GROUPS)
    groups = [rows[start : start + size] for start in range(0, len(rows), size)]
    for who in dict.fromkeys(plan.players):  # a player in several seats is one
        members = [seat for seat, other in enumerate(plan.players) if other == who]
        yield side_of(who, members, groups, plan.length, Uma(rewards_of(plan.length)))
