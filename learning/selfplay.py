"""`suzaku selfplay`: games of any mix of players, kept as records to learn from."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from game.errors import ConfigError, ReplayError
from game.events import Four
from game.settlement import GameLength
from learning.arena.engines import ANSWER_S
from learning.arena.figures import (
    Played,
    Side,
    crashes_in,
    faults_in,
    lines_of,
    many_faults_of,
    side_of,
    speed_line,
)
from learning.arena.players import Contender, contender, tables_for
from learning.arena.records import RECORDS_FOLDER, RecordForm
from learning.arena.series import Series, wall_seed
from learning.arena.session import Session, Tell
from learning.arena.tally import GameRow
from learning.progress import GamesProgress
from policies.rollout import Seating
from replays.standing import Standing

FORMAT: Final = "suzaku-selfplay/1"

Players: TypeAlias = tuple[Contender, Contender, Contender, Contender]
Watch: TypeAlias = Callable[[Standing], None]
"""Is told how the run stands: when it starts, and after every game."""

_ENGINE: Final = re.compile(r"([^,=:/]+=)?engine[a-z-]*:")
_GROUPS: Final = 1_000
"""Games are resampled in so many groups at most: as independent as single ones, and quicker to draw."""


def unwatched(_: Standing) -> None:
    """Nobody is told."""


class SelfPlay(Series, frozen=True, kw_only=True):
    """Everything the games follow from.

    Attributes:
        players: who plays; they sit in every order in turn.
        games: how many, each over walls of its own.
        form: of the records.
        format: of the results.
    """

    players: Players
    games: int
    form: RecordForm = "mjlog"
    format: str = FORMAT

    @property
    def contenders(self) -> Players:
        """The four of a game."""
        return self.players

    @property
    def identity(self) -> str:
        """What tells these games from those of other plans."""
        return f"selfplay {self.seed} {' '.join(who.identity for who in self.players)} {self.length}"

    @property
    def flags(self) -> dict[str, str]:
        """What was chosen; see `Series.flags`."""
        return {
            "--players": ",".join(who.flag for who in self.players),
            "--games": str(self.games),
            "--format": self.form,
            **super().flags,
        }

    def continues(self, other: SelfPlay) -> bool:
        """Whether games of another plan are the first ones of this."""
        return other.games <= self.games and msgspec.structs.replace(other, games=self.games) == self

    def seating(self, number: int) -> Seating:
        """Game ``number``: its walls and who sits where."""
        orders = self._orders
        return Seating(number, wall_seed("selfplay", self.seed, number), orders[number % len(orders)])

    @property
    def _orders(self) -> Sequence[Four]:
        """Every way to seat the four that they can tell apart, the rotations of one together."""
        first, *others = (self.players.index(who) for who in self.players)
        orders: dict[Four, None] = {}
        for a, b, c in itertools.permutations(others):
            orders |= dict.fromkeys(((first, a, b, c), (c, first, a, b), (b, c, first, a), (a, b, c, first)))
        return tuple(orders)


class Summary(Played, frozen=True):
    """What came of it.

    Attributes:
        plan: what was to be played.
        records: the folder they lie in.
        games: played to their ends.
        rounds: in these.
        players: the figures of each, those in several seats once.
    """

    plan: SelfPlay
    records: str
    games: int
    rounds: int
    players: tuple[Side, ...]


def players_of(texts: Sequence[str], answer_s: float = ANSWER_S) -> Players:
    """Who is meant: one player for all seats, or four.

    Args:
        texts: names with commas between them; an engine, whose command may hold commas, stands alone.
        answer_s: seconds for each answer of those who are external engines.

    Raises:
        ConfigError: they are neither one nor four, or one of them is no player.
        CheckpointError: a folder's checkpoints cannot be used.
    """
    names: list[str] = []
    for text in texts:
        names += [text] if _ENGINE.match(text) else [name.strip() for name in text.split(",")]
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
    tell: Tell = lambda _games, _of, _decisions: None,
    watch: Watch = unwatched,
) -> Summary:
    """Play what is not played yet, and sum up.

    Args:
        plan: what to play.
        folder: where results and records are kept and found again.
        workers: processes; one for each core if None.
        ray: a cluster's address, to play there; see `learning.spread.spread`.
        tell: is told of the progress.
        watch: is told how it stands.

    Raises:
        ConfigError: another run lies in the folder, or there is no such cluster.
        ReplayError: results cannot be read.
        WorkerFailed: a process could not go on.
        OSError: the disk does not take it.
    """
    count = _Count(plan, watch)
    with Session(plan, folder, plan.form, tell, count.played) as session:
        count.begin(session.rows.values())
        for _ in session.blocks(workers, ray):
            pass
        rows = [session.rows[number] for number in sorted(session.rows)]
        whole = [row for row in rows if not row.crash]
        players = tuple(_sides(plan, whole))
        return Summary(
            plan=plan,
            records=str(folder / RECORDS_FOLDER),
            games=len(whole),
            rounds=sum(row.rounds for row in whole),
            players=players,
            many_faults=many_faults_of(players),
            faults=faults_in(rows),
            crashes=crashes_in(rows),
            seconds=session.seconds,
            played=session.played,
            games_per_s=session.played / session.seconds,
            times=session.times,
        )


def selfplay(
    players: Sequence[str],
    folder: Path,
    *,
    games: int,
    seed: int,
    length: GameLength,
    form: RecordForm,
    answer_timeout_s: float,
    workers: int | None,
    ray: str | None,
    as_json: bool,
    prepare: Callable[[], object] = lambda: None,
    watch: Watch = unwatched,
) -> int:
    """Play, and print the summary; the exit code.

    Args:
        players: as `players_of` takes them.
        folder: for results and records.
        games: how many.
        seed: every wall follows from it.
        length: of the games.
        form: of the records.
        answer_timeout_s: for each answer of an external engine.
        workers: processes; one for each core if None.
        ray: a cluster's address, to play there; see `learning.spread.spread`.
        as_json: print one JSON object.
        prepare: called once the players are loaded, before anybody plays.
        watch: is told how it stands.

    Raises:
        ConfigError: a player, the folder or the cluster is not what it must be.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not go on.
    """
    four = players_of(players, answer_timeout_s)
    plan = SelfPlay(players=four, games=games, seed=seed, length=length, form=form, tables=tables_for(*four))
    prepare()
    try:
        with GamesProgress("selfplay") as progress:
            found = run(plan, folder, workers=workers, ray=ray, tell=progress.played, watch=watch)
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
    return print_summary(found, as_json=as_json)


def print_summary(found: Summary, *, as_json: bool) -> int:
    """Write the summary to stdout; 1 if the figures are not those of the players."""
    text = (
        msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
        if as_json
        else "\n".join(_lines(found))
    )
    sys.stdout.write(text + "\n")
    return found.exit_code


def _lines(found: Summary) -> Iterator[str]:
    plan = found.plan
    yield f"{found.games} {plan.length} games, {found.rounds} rounds, seed {plan.seed}: {found.records}"
    yield from (f"caution: {line}" for line in found.many_faults)
    yield from lines_of(found.players)
    yield from (f"fault: {line}" for line in found.faults)
    yield from (f"crashed: {line}" for line in found.crashes)
    if found.played:
        yield speed_line(found.played, found.seconds, found.times)


class _Count:
    """Counts the games as they come."""

    def __init__(self, plan: SelfPlay, watch: Watch) -> None:
        self._plan = plan
        self._watch = watch
        self._members = _members(plan)
        self._places = {who: [0, 0, 0, 0] for who in self._members}
        self._games = self._played = self._crashes = self._faults = 0

    def begin(self, rows: Iterable[GameRow]) -> None:
        """Those of earlier starts."""
        for row in rows:
            self._add(row)
        self._watch(self._standing())

    def played(self, row: GameRow) -> None:
        """One more."""
        self._played += 1
        self._add(row)
        self._watch(self._standing())

    def _add(self, row: GameRow) -> None:
        self._games += 1
        self._crashes += bool(row.crash)
        self._faults += bool(row.fault)
        if row.crash:
            return
        for who, members in self._members.items():
            for player, place in zip(row.players, row.places, strict=True):
                self._places[who][place - 1] += player in members

    def _standing(self) -> Standing:
        return Standing(
            length=self._plan.length,
            games=self._games,
            of=self._plan.games,
            played=self._played,
            crashes=self._crashes,
            faults=self._faults,
            players=tuple(who.name for who in self._members),
            places=tuple((a, b, c, d) for a, b, c, d in self._places.values()),
        )


def _members(plan: SelfPlay) -> dict[Contender, Collection[int]]:
    """Everybody once, with what rows call him."""
    return {who: [seat for seat, other in enumerate(plan.players) if other == who] for who in plan.players}


def _sides(plan: SelfPlay, rows: Sequence[GameRow]) -> Iterator[Side]:
    if not rows:
        return
    size = -(-len(rows) // _GROUPS)
    groups = [rows[start : start + size] for start in range(0, len(rows), size)]
    for who, members in _members(plan).items():
        yield side_of(who, members, groups, plan.length)
