"""`suzaku arena`: the games of a plan, played in processes, kept as they end."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from game.files import replace_file
from game.warmup import warm_up
from learning.arena.plan import Plan
from learning.arena.players import Files, packed, seat_down
from learning.arena.records import GameFile, file_of
from learning.arena.report import Report, placements_of, report, whole_sets
from learning.arena.store import Store
from learning.arena.tally import GameRow, row_of
from learning.crew import Done, Work
from learning.spread import spread
from learning.statistics import first_clear
from policies.rollout import Rollout, Times

Tell: TypeAlias = Callable[[int, int], None]
"""Is told how many games there are now, and how many there are to be."""

_EQUAL: Final = 2.5
"""Average placement of players of the same strength."""


class Setup(msgspec.Struct, frozen=True):
    """What a worker needs to know.

    Attributes:
        plan: what is played.
        records: whether each game's record is wanted; one that crashes is in any case.
        files: of the contenders' checkpoints, by their texts; those who are not there find their folders.
    """

    plan: Plan
    records: bool = False
    files: dict[str, Files] = {}


class Ended(msgspec.Struct, frozen=True):
    """A game that ended.

    Attributes:
        row: what it came to.
        times: seconds on a core since the one before it, by what they were spent on.
        file: to keep; a worker may be where the folder is not.
    """

    row: GameRow
    times: dict[str, float]
    file: GameFile | None = None


def player_of_blocks(setup: Setup) -> Work[Ended]:
    """Load both sides; returns what plays a block of the plan."""
    warm_up()
    plan = setup.plan
    sides = (plan.challenger, plan.champions)
    loaded = {who: seat_down(who, setup.files.get(who.text)) for who in dict.fromkeys(sides)}
    rollout = Rollout([loaded[who] for who in sides], tables=plan.tables, length=plan.length)

    def play(block: int) -> Iterator[Ended]:
        for played in rollout.play(map(plan.seating, plan.numbers(block))):
            times, rollout.times = rollout.times, defaultdict(float)
            yield Ended(row_of(played), dict(times), file_of(plan, played, records=setup.records))

    return play


def run(
    plan: Plan,
    *,
    workers: int | None = None,
    ray: str | None = None,
    folder: Path | None = None,
    records: bool = False,
    sequential: bool = False,
    tell: Tell = lambda _games, _of: None,
) -> Report | None:
    """Play what is not played yet, and report.

    Args:
        plan: what to play.
        workers: processes; one for each core if None.
        ray: a cluster's address, to play there; see `learning.spread.spread`.
        folder: where results are kept and found again, None for nowhere.
        records: keep every game's record too, in the folder.
        sequential: stop as soon as one side is clearly better.
        tell: is told of the progress.

    Returns:
        None if not one duplicate set was complete.

    Raises:
        ConfigError: another comparison lies in the folder, or there is no such cluster.
        WorkerFailed: a process could not go on.
        OSError: the disk does not take it.
    """
    files = {} if ray is None else packed(plan.challenger, plan.champions)
    with Store(plan, folder) as store:
        running = _Run(Setup(plan, records, files), store, folder, tell, sequential=sequential)
        if running.clear is None:
            running.play(workers, ray)
        return running.report()


class _Run:
    """One run of the arena."""

    def __init__(
        self, setup: Setup, store: Store, folder: Path | None, tell: Tell, *, sequential: bool
    ) -> None:
        self._setup = setup
        self._plan = setup.plan
        self._store = store
        self._folder = folder
        self._tell = tell
        self._sequential = sequential
        self._started = time.monotonic()
        self._before = len(store.rows)
        self._times: Times = defaultdict(float)
        self.clear: int | None = None
        self._look()

    def play(self, workers: int | None, ray: str | None) -> None:
        """Play the blocks that are not whole yet, until all are or the difference is clear."""
        missing = [block for block in range(self._plan.blocks) if not self._is_whole(block)]
        self._tell(self._before, self._plan.games)
        ended = spread(player_of_blocks, self._setup, missing, workers=workers, ray=ray)
        with contextlib.closing(ended):
            for _, one in ended:
                if isinstance(one, Done):
                    self._look()
                else:
                    self._take(one)
                if self.clear is not None:
                    return

    def report(self) -> Report | None:
        """What the games say; those past the point where the difference was clear do not count."""
        played = len(self._store.rows) - self._before
        end = self._plan.games if self.clear is None else self.clear
        return report(
            self._plan,
            [row for row in self._store.rows.values() if row.number < end],
            clear=self.clear is not None,
            seconds=time.monotonic() - self._started,
            played=played,
            times={what: spent / played for what, spent in sorted(self._times.items())},
        )

    def _take(self, ended: Ended) -> None:
        if ended.row.number in self._store.rows:
            return
        if ended.file is not None and self._folder is not None:
            # before its row: a game that is in the results is never without its record
            folder = self._folder / ended.file.folder
            folder.mkdir(exist_ok=True)
            replace_file(folder / ended.file.name, ended.file.data)
        self._store.add(ended.row)
        for what, spent in ended.times.items():
            self._times[what] += spent
        self._tell(len(self._store.rows), self._plan.games)

    def _is_whole(self, block: int) -> bool:
        return all(number in self._store.rows for number in self._plan.numbers(block))

    def _look(self) -> None:
        """Note the first whole blocks after which the difference is clear, whichever were played first."""
        if not self._sequential:
            return
        looks, rows = {}, []
        for block in range(self._plan.blocks):
            if not self._is_whole(block):
                break
            numbers = self._plan.numbers(block)
            rows += [self._store.rows[number] for number in numbers]
            looks[len(whole_sets(self._plan, rows))] = numbers.stop
        if looks:
            sets = whole_sets(self._plan, rows)
            count = first_clear(placements_of(sets), _EQUAL, sorted(looks))
            self.clear = None if count is None else looks[count]
