"""`suzaku arena`: the games of a plan, played in processes, kept as they end."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from game.warmup import warm_up
from learning.arena.plan import Plan
from learning.arena.players import seat_down
from learning.arena.records import record_of
from learning.arena.report import Report, report
from learning.arena.store import Store
from learning.arena.tally import GameRow, row_of
from learning.crew import Done, Work, results
from policies.rollout import Rollout, Times
from replays.library import save

Tell = Callable[[int, int], None]
"""Is told how many games there are now, and how many there are to be."""

RECORDS_FOLDER = "games"


class Setup(msgspec.Struct, frozen=True):
    """What a worker needs to know.

    Attributes:
        plan: what is played.
        records: where each game's record is kept, None for nowhere.
    """

    plan: Plan
    records: Path | None = None


class Ended(msgspec.Struct, frozen=True):
    """A game that ended, and the seconds on a core since the one before it, by what they were spent on."""

    row: GameRow
    times: dict[str, float]


def player_of_blocks(setup: Setup) -> Work[Ended]:
    """Load both sides; returns what plays a block of the plan."""
    warm_up()
    plan = setup.plan
    challenger = seat_down(plan.challenger)
    same = plan.champions == plan.challenger
    rollout = Rollout(
        [challenger, challenger if same else seat_down(plan.champions)],
        tables=plan.tables,
        length=plan.length,
    )

    def play(block: int) -> Iterator[Ended]:
        for played in rollout.play(map(plan.seating, plan.numbers(block))):
            if setup.records is not None and not played.crash:
                save(record_of(plan, played), setup.records)
            times, rollout.times = rollout.times, defaultdict(float)
            yield Ended(row_of(played), dict(times))

    return play


def run(plan: Plan, *, workers: int, folder: Path | None, records: bool, tell: Tell) -> Report | None:
    """Play what is not played yet, and report.

    Args:
        plan: what to play.
        workers: processes.
        folder: where results are kept and found again, None for nowhere.
        records: keep every game's record too, in the folder.
        tell: is told of the progress.

    Returns:
        None if not one duplicate set was complete.

    Raises:
        ConfigError: another comparison lies in the folder.
        WorkerFailed: a process could not go on.
    """
    started = time.monotonic()
    times: Times = defaultdict(float)
    setup = Setup(plan, folder / RECORDS_FOLDER if folder and records else None)
    with Store(plan, folder) as store:
        before = len(store.rows)
        missing = [
            block
            for block in range(plan.blocks)
            if any(number not in store.rows for number in plan.numbers(block))
        ]
        tell(before, plan.games)
        for _, ended in results(player_of_blocks, setup, missing, workers):
            if isinstance(ended, Done):
                continue
            store.add(ended.row)
            for what, spent in ended.times.items():
                times[what] += spent
            tell(len(store.rows), plan.games)
        played = len(store.rows) - before
        each = {what: seconds / played for what, seconds in sorted(times.items())}
        return report(
            plan, store.rows.values(), seconds=time.monotonic() - started, played=played, times=each
        )
