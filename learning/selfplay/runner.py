"""Plays the games of a plan in worker processes, and keeps each once, as it ends."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Generic, Self, TypeAlias, TypeVar

import msgspec

from game.warmup import warm_up
from kit.files import replace_file
from kit.workers.ordered import batches, default_workers
from kit.workers.pool import Done, Work
from learning.runs.spread import spread
from learning.runs.store import Store
from learning.selfplay.players import packed, seat_down
from learning.selfplay.records import GameFile, RecordForm, file_of
from learning.selfplay.series import Series
from learning.selfplay.tally import GameRow, row_of
from policies.play.named import Files
from policies.play.rollout import Rollout, Times

P = TypeVar("P", bound=Series)

_SAY_S: Final = 0.5
"""Seconds between two progress messages of a process."""
_STRETCH_GAMES: Final = 2048
"""Most games that a process is given at once; it plays them again if it is lost."""

OnProgress: TypeAlias = Callable[[int, int, int], None]
"""Called with the number of games so far, the number planned, and the decisions of this start."""


class Setup(msgspec.Struct, frozen=True):
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


RunnerMessage: TypeAlias = GameEnd | GameProgress


Stretch: TypeAlias = tuple[int, ...]
"""Blocks that one process plays without a pause; at the end of each stretch tables stand empty."""


def player_of_blocks(setup: Setup) -> Work[Stretch, RunnerMessage]:
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

    def play(blocks: Stretch) -> Iterator[RunnerMessage]:
        numbers = [
            number for block in blocks for number in series.numbers(block) if number not in setup.played
        ]
        said, told = time.monotonic(), rollout.decisions
        for ended in rollout.steps(map(series.seating, numbers)):
            for played in ended:
                yield GameEnd(row_of(played), spent(), file_of(series, played, setup.form))
            if time.monotonic() - said >= _SAY_S:
                yield GameProgress(rollout.decisions - told)
                said, told = time.monotonic(), rollout.decisions
        yield GameProgress(rollout.decisions - told, spent())

    return play


class SeriesRunner(Generic[P]):
    """Plays the games that are missing.

    Args:
        series: the games to play.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        form: format of the records to keep in it; None for no records.
        on_progress: called with the progress.

    Attributes:
        series: the games to play.
        rows: games so far, by number, including those of earlier starts.

    Raises:
        ConfigError: games of another plan are in the folder.
        ReplayError: the results there cannot be read.
        OSError: the results cannot be written.
    """

    def __init__(
        self,
        series: P,
        folder: Path | None = None,
        form: RecordForm | None = None,
        on_progress: OnProgress = lambda _games, _of, _decisions: None,
    ) -> None:
        self.series = series
        self._folder = folder
        self._form = form
        self._on_progress = on_progress
        self._store = Store(series, GameRow, folder)
        self.rows = self._store.rows
        self._before = len(self.rows)
        self._started = time.monotonic()
        self._times: Times = defaultdict(float)
        self._decisions = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(self._left_off) from None

    @property
    def _left_off(self) -> str:
        """Message for an interrupted run."""
        games = f"{len(self.rows)} of {self.series.games} games"
        if self._folder is None:
            return f"stopped after {games}; nothing is kept without --out FOLDER"
        return f"stopped: {games} are in {self._folder}; give the same command again to resume"

    @property
    def seconds(self) -> float:
        """Seconds since this start."""
        return time.monotonic() - self._started

    @property
    def played(self) -> int:
        """Number of games of this start."""
        return len(self.rows) - self._before

    @property
    def times(self) -> dict[str, float]:
        """CPU seconds per game of this start, by task."""
        return {what: spent / self.played for what, spent in sorted(self._times.items()) if self.played}

    def play(self, workers: int | None = None, ray: str | None = None) -> None:
        """Play the games that are missing.

        Args:
            workers: processes; one per core if None.
            ray: address of a cluster to play on; see `learning.runs.spread.spread`.

        Raises:
            ConfigError: there is no such cluster.
            WorkerFailed: a process could not continue.
            OSError: the results cannot be written.
        """
        series, rows = self.series, self.rows
        missing = [
            block
            for block in range(series.blocks)
            if any(number not in rows for number in series.numbers(block))
        ]
        self._on_progress(self._before, series.games, 0)
        files = {} if ray is None else packed(*dict.fromkeys(series.contenders))
        played = frozenset(number for block in missing for number in series.numbers(block) if number in rows)
        setup = Setup(series, self._form, files, played)
        stretches = [tuple(each) for each in batches(missing, self._stretch(len(missing), workers, ray))]
        ended = spread(player_of_blocks, setup, stretches, workers=workers, ray=ray)
        with contextlib.closing(ended):
            for _, one in ended:
                if isinstance(one, GameEnd):
                    self._take(one)
                    self._go_on(one.times)
                elif not isinstance(one, Done):
                    self._decisions += one.decisions
                    self._go_on(one.times)

    def _stretch(self, missing: int, workers: int | None, ray: str | None) -> int:
        """Blocks per task of a process."""
        if ray is not None and workers is None:
            return 1  # their number is known only to the cluster
        most = max(1, _STRETCH_GAMES // len(self.series.numbers(0)))
        return min(most, max(1, -(-missing // (workers or default_workers()))))

    def _go_on(self, times: dict[str, float]) -> None:
        for what, spent in times.items():
            self._times[what] += spent
        self._on_progress(len(self.rows), self.series.games, self._decisions)

    def _take(self, ended: GameEnd) -> None:
        if ended.row.number in self.rows:
            return
        if ended.file is not None and self._folder is not None:
            # before its row: a game in the results always has its record
            folder = self._folder / ended.file.folder
            folder.mkdir(exist_ok=True)
            replace_file(folder / ended.file.name, ended.file.data)
        self._store.add(ended.row)
