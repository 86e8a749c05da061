"""Series of games determined by a plan, in blocks of fixed content, played in worker processes.

A process plays one or more blocks at a time. A block's games follow from the plan alone. A resumed run, on
any number of processes, therefore plays the games that are missing and counts none twice. Each game is kept
as it ends: its row in the results, and its record or, if it crashed, all its data.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from game.events import EndGame, Four
from game.scoring.settlement import GameLength, placements
from game.warmup import warm_up
from kit.files import replace_file
from kit.options import INTERNAL, Seed, switch
from kit.workers.ordered import batches, default_workers
from kit.workers.pool import Done, Work
from learning.runs.progress import Progress
from learning.runs.spread import spread
from learning.runs.store import ResumablePlan, Store, resumed
from learning.selfplay.players import Contender, packed, seat_down
from policies.nets.compute import IN_PLAY, Compute
from policies.play.named import Files
from policies.play.rollout import TABLES, FinishedGame, Rollout, Seating, Times
from replays.files import RECORD_SUFFIX
from replays.formats import write_game
from replays.record import JAPAN, GameRecord, Names, game_id
from replays.tally import Tallies, tally

RecordForm: TypeAlias = Literal["mjlog", "mjai"]

BLOCK_GAMES: Final = 64
"""Games in a block: few, so that processes can share them evenly."""
RECORDS_FOLDER: Final = "games"
CRASHES_FOLDER: Final = "crashed"

_SUFFIXES: Final[dict[RecordForm, str]] = {"mjlog": RECORD_SUFFIX, "mjai": ".mjson"}
_GAME_TYPES: Final[dict[GameLength, int]] = {"hanchan": 9, "tonpuu": 1}
_DAY: Final = datetime(2000, 1, 1, tzinfo=JAPAN)
"""A fixed date, so that the same games always get the same ids."""
_SAY_S: Final = 0.5
"""Seconds between two progress messages of a process."""
_STRETCH_GAMES: Final = 2048
"""Most games of a task; they are played again if its process is lost."""


class Series(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all plans; each purpose adds its own fields.

    Attributes:
        seed: seed of all walls.
        length: length of the games.
        tables: tables played at a time.
        compute: how networks compute.
    """

    seed: Seed = 0
    length: Annotated[GameLength, switch("--tonpuu", "tonpuu", "Play tonpuusen instead of hanchan.")] = (
        "hanchan"
    )
    tables: Annotated[int, INTERNAL] = TABLES
    compute: Compute = IN_PLAY

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """The players; seatings refer to their places here."""
        raise NotImplementedError

    @property
    def games(self) -> int:
        """Total number of games."""
        raise NotImplementedError

    @property
    def identity(self) -> str:
        """Distinguishes these games from those of other plans; a longer plan only adds games."""
        raise NotImplementedError

    @property
    def flags(self) -> dict[str, str]:
        """The options that give this plan, as text."""
        engines = [who.answer_s for who in self.contenders if who.answer_s is not None]
        return super().flags | {
            "--tables": str(self.tables),
            "--answer-timeout": f"{engines[0]:g}" if engines else "not needed",
        }

    def seating(self, number: int) -> Seating:
        """Game ``number``: its walls and its seating."""
        raise NotImplementedError

    @property
    def together(self) -> int:
        """Number of games that belong in the same block."""
        return 1

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.games // self._block_games)

    def numbers(self, block: int) -> range:
        """The numbers of a block's games."""
        size = self._block_games
        return range(block * size, min((block + 1) * size, self.games))

    @property
    def _block_games(self) -> int:
        return BLOCK_GAMES // self.together * self.together


class GameRow(msgspec.Struct, frozen=True):
    """One game.

    Attributes:
        number: its number in the plan.
        seed: seed of its walls.
        players: the seating: 0 the challenger, 1 a champion.
        scores: final points by player; zeros if it crashed.
        places: places by player; zeros if it crashed.
        results: final results in tenths, including uma and oka; zeros if it crashed.
        rounds: rounds dealt.
        tallies: the counts by player.
        fault: the first decision that had to be replaced, "" if none.
        crash: why it could not be completed, "" if it was.
    """

    number: int
    seed: int
    players: Four
    scores: Four
    places: Four
    results: Four
    rounds: int
    tallies: Tallies
    fault: str = ""
    crash: str = ""


def row_of(played: FinishedGame) -> GameRow:
    """Make the row of a game."""
    tallies, rounds = tally(played.events)
    for each, decisions in zip(tallies, played.decisions, strict=True):
        each.decisions = decisions
    for fault in played.faults:
        tallies[fault.player].faults += 1
    ending = played.events[-1] if not played.crash else None
    scores = results = places = (0, 0, 0, 0)
    if isinstance(ending, EndGame):
        assert ending.results is not None
        scores, results, places = ending.scores, ending.results, placements(ending.scores)
    seating = played.seating
    first = played.faults[0] if played.faults else None
    return GameRow(
        seating.number,
        seating.seed,
        seating.players,
        scores,
        places,
        results,
        rounds,
        tallies,
        str(first) if first else "",
        played.crash,
    )


class GameFile(msgspec.Struct, frozen=True):
    """File of a game.

    Attributes:
        folder: subfolder of the results.
        name: name of the file, always the same for the same game.
        data: its content.
    """

    folder: str
    name: str
    data: bytes


def file_of(series: Series, played: FinishedGame, form: RecordForm | None) -> GameFile | None:
    """The file to keep a game in.

    Args:
        series: the series it belongs to.
        played: the game.
        form: format of records; if None, only a crashed game is kept.
    """
    if played.crash:
        return GameFile(CRASHES_FOLDER, f"game-{played.seating.number}.json", msgspec.json.encode(played))
    if form is None:
        return None
    record = record_of(series, played)
    return GameFile(RECORDS_FOLDER, record.game_id + _SUFFIXES[form], write_game(record, form).encode())


def record_of(series: Series, played: FinishedGame) -> GameRecord:
    """A game's record; its id is derived from the plan and the game's number."""
    first, second, third, fourth = (series.contenders[player].name for player in played.seating.players)
    names: Names = (first, second, third, fourth)
    kind = _GAME_TYPES[series.length]
    base = int.from_bytes(hashlib.blake2b(series.identity.encode(), digest_size=4).digest(), "little")
    return GameRecord(
        game_id=game_id(_DAY, kind, 0, base + played.seating.number),
        game_type=kind,
        names=names,
        events=played.events,
        sexes=("C", "C", "C", "C"),
    )


class SeriesSetup(msgspec.Struct, frozen=True):
    """Setup of a worker.

    Attributes:
        series: the games to play.
        form: format of each game's record; None for no records.
        files: files of the contenders' checkpoints, by their texts; other contenders are loaded from their
            folders.
        played: games of incomplete blocks that need not be played again.
    """

    series: Series
    form: RecordForm | None = None
    files: dict[str, Files] = {}
    played: frozenset[int] = frozenset()


class GameEnd(msgspec.Struct, frozen=True):
    """A game that ended.

    Attributes:
        row: its row in the results.
        times: CPU seconds since the previous game, by task.
        file: file to keep; a worker may have no access to the folder.
    """

    row: GameRow
    times: dict[str, float]
    file: GameFile | None = None


class GameProgress(msgspec.Struct, frozen=True):
    """Progress since the previous message.

    Attributes:
        decisions: decisions requested; forced moves are not.
        times: CPU seconds by task, except those sent with games.
    """

    decisions: int
    times: dict[str, float] = {}


Stretch: TypeAlias = tuple[int, ...]
"""Blocks of one task; they are played without a pause, and only at the end are tables idle."""


def player_of_blocks(setup: SeriesSetup) -> Work[Stretch, GameEnd | GameProgress]:
    """Load all players; return the function that plays a stretch of blocks."""
    warm_up()
    series = setup.series
    loaded = {
        who: seat_down(who, setup.files.get(who.text), series.compute)
        for who in dict.fromkeys(series.contenders)
    }
    rollout = Rollout([loaded[who] for who in series.contenders], tables=series.tables, length=series.length)

    def spent() -> dict[str, float]:
        times, rollout.times = rollout.times, defaultdict(float)
        return dict(times)

    def play(blocks: Stretch) -> Iterator[GameEnd | GameProgress]:
        numbers = [
            number for block in blocks for number in series.numbers(block) if number not in setup.played
        ]
        reported_at, reported = time.monotonic(), rollout.decisions
        for ended in rollout.steps(map(series.seating, numbers)):
            for played in ended:
                yield GameEnd(row_of(played), spent(), file_of(series, played, setup.form))
            if time.monotonic() - reported_at >= _SAY_S:
                yield GameProgress(rollout.decisions - reported)
                reported_at, reported = time.monotonic(), rollout.decisions
        yield GameProgress(rollout.decisions - reported, spent())

    return play


class PlayedSeries(msgspec.Struct, frozen=True):
    """The games of a series.

    Attributes:
        rows: all games, by number, including those of earlier starts.
        played: number of games of this start.
        seconds: duration of this start.
        times: CPU seconds per game of this start, by task.
    """

    rows: list[GameRow]
    played: int = 0
    seconds: float = 0.0
    times: dict[str, float] = {}


def play_series(
    series: Series,
    folder: Path | None = None,
    form: RecordForm | None = None,
    *,
    title: str = "",
    workers: int | None = None,
    ray: str | None = None,
) -> PlayedSeries:
    """Play the games that are missing.

    Args:
        series: the games to play.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        form: format of the records to keep in it; None for no records.
        title: the command that plays them, shown with the progress; "" to show none.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.runs.spread.spread`.

    Raises:
        ConfigError: games of another plan are in the folder, or there is no such cluster.
        ReplayError: the results there cannot be read or written.
        WorkerFailed: a process could not continue.
        KeyboardInterrupt: stopped; the games so far are kept.
    """
    started, times, decisions = time.monotonic(), Times(float), 0
    shown = Progress(f"{title}.progress", title, "games", done=None, quiet=not title)
    with resumed(series, GameRow, folder, series.games) as store, shown as progress:
        before = len(store.rows)
        progress.reach(before, series.games)
        with contextlib.closing(_played(series, store, form, workers, ray)) as ended:
            for _, one in ended:
                if isinstance(one, Done):
                    continue
                if isinstance(one, GameProgress):
                    decisions += one.decisions
                elif one.row.number not in store.rows:
                    if one.file is not None and folder is not None:
                        _keep(one.file, folder)  # before its row: a game in the results always has its record
                    store.add(one.row)
                for what, spent in one.times.items():
                    times[what] += spent
                if decisions:  # the first games may take minutes
                    progress.note(decisions=f"{decisions:,}")
                progress.reach(len(store.rows), series.games)
        rows = [store.rows[number] for number in sorted(store.rows)]
    played = len(rows) - before
    of_a_game = {what: spent / played for what, spent in sorted(times.items()) if played}
    return PlayedSeries(rows, played, time.monotonic() - started, of_a_game)


def _played(
    series: Series,
    store: Store[Series, GameRow],
    form: RecordForm | None,
    workers: int | None,
    ray: str | None,
) -> Generator[tuple[Stretch, GameEnd | GameProgress | Done]]:
    """Play the missing games in processes."""
    missing = [
        block
        for block in range(series.blocks)
        if any(number not in store.rows for number in series.numbers(block))
    ]
    files = {} if ray is None else packed(*dict.fromkeys(series.contenders))
    played = {number for block in missing for number in series.numbers(block) if number in store.rows}
    setup = SeriesSetup(series, form, files, frozenset(played))
    stretches = [tuple(each) for each in batches(missing, _stretch(series, len(missing), workers, ray))]
    return spread(player_of_blocks, setup, stretches, workers=workers, ray=ray)


def _stretch(series: Series, missing: int, workers: int | None, ray: str | None) -> int:
    """Blocks per task of a process."""
    if ray is not None and workers is None:
        return 1  # their number is known only to the cluster
    most = max(1, _STRETCH_GAMES // len(series.numbers(0)))
    return min(most, max(1, -(-missing // (workers or default_workers()))))


def _keep(file: GameFile, folder: Path) -> None:
    (folder / file.folder).mkdir(exist_ok=True)
    replace_file(folder / file.folder / file.name, file.data)
