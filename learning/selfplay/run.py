"""`suzaku selfplay`: games between any mix of players, kept as records to learn from."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from game.events import Four
from game.table.walls import wall_seed
from kit.errors import ConfigError
from kit.options import INTERNAL, Count, flag
from kit.reports import write_report
from learning.runs.progress import GamesProgress
from learning.runs.store import writing
from learning.selfplay.engines import ANSWER_S
from learning.selfplay.figures import (
    PlayFigures,
    Side,
    crashes_in,
    faults_in,
    many_faults_of,
    side_of,
)
from learning.selfplay.players import Contender, contender, names_in
from learning.selfplay.records import RECORDS_FOLDER, RecordForm
from learning.selfplay.runner import OnProgress, SeriesRunner
from learning.selfplay.series import Series
from learning.selfplay.tally import GameRow
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


def run(
    plan: SelfPlay,
    folder: Path,
    *,
    workers: int | None = None,
    ray: str | None = None,
    on_progress: OnProgress = lambda _games, _of, _decisions: None,
) -> SelfPlaySummary:
    """Play the games that are missing, and summarise all.

    Args:
        plan: the games to play.
        folder: folder of results and records; an earlier run in it is resumed.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.runs.spread.spread`.
        on_progress: called with the progress.

    Raises:
        ConfigError: another run is in the folder, or there is no such cluster.
        ReplayError: results cannot be read.
        WorkerFailed: a process could not continue.
        OSError: the results cannot be written.
    """
    with SeriesRunner(plan, folder, plan.form, on_progress) as runner:
        runner.play(workers, ray)
        rows = [runner.rows[number] for number in sorted(runner.rows)]
        whole = [row for row in rows if not row.crash]
        players = tuple(_sides(plan, whole))
        return SelfPlaySummary(
            plan=plan,
            records=str(folder / RECORDS_FOLDER),
            games=len(whole),
            rounds=sum(row.rounds for row in whole),
            players=players,
            many_faults=many_faults_of(players),
            faults=faults_in(rows),
            crashes=crashes_in(rows),
            seconds=runner.seconds,
            played=runner.played,
            games_per_s=runner.played / runner.seconds,
            times=runner.times,
        )


def play(plan: SelfPlay, folder: Path, *, workers: int | None, ray: str | None, as_json: bool) -> int:
    """Play, print the summary, and return the exit code; see `run`.

    Raises:
        ReplayError: results cannot be read or written.
    """
    with writing(folder), GamesProgress("selfplay") as progress:
        found = run(plan, folder, workers=workers, ray=ray, on_progress=progress.played)
    return write_report(found, as_json=as_json)


def _lines(found: SelfPlaySummary) -> Iterator[str]:
    plan = found.plan
    yield f"{found.games} {plan.length} games, {found.rounds} rounds, seed {plan.seed}: {found.records}"
    yield from found.lines(found.players)


def _members(plan: SelfPlay) -> dict[Contender, Collection[int]]:
    """Every player once, with the seats in the plan under which rows list it."""
    return {who: [seat for seat, other in enumerate(plan.players) if other == who] for who in plan.players}


def _sides(plan: SelfPlay, rows: Sequence[GameRow]) -> Iterator[Side]:
    if not rows:
        return
    size = -(-len(rows) // _GROUPS)
    groups = [rows[start : start + size] for start in range(0, len(rows), size)]
    for who, members in _members(plan).items():
        yield side_of(who, members, groups, plan.length)
