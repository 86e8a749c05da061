"""`suzaku arena`: plays the games of a comparison until all are played or one side is clearly better."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from learning.arena.plan import EQUAL, ArenaPlan
from learning.arena.report import ArenaReport, placements_of, report, whole_sets
from learning.matches.runner import OnProgress, SeriesRunner
from learning.matches.statistics import first_clear
from learning.matches.store import read_results
from learning.matches.tally import GameRow


def run(
    plan: ArenaPlan,
    *,
    workers: int | None = None,
    ray: str | None = None,
    folder: Path | None = None,
    records: bool = False,
    sequential: bool = False,
    on_progress: OnProgress = lambda _games, _of, _decisions: None,
) -> ArenaReport | None:
    """Play the games that are missing, and report on all.

    Args:
        plan: the games to play.
        workers: processes; one per core if None.
        ray: address of a cluster to play on; see `learning.workers.spread.spread`.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        records: also keep every game's record in the folder.
        sequential: stop as soon as one side is clearly better.
        on_progress: called with the progress.

    Returns:
        None if no duplicate set was completed.

    Raises:
        ConfigError: another run is in the folder, or there is no such cluster.
        WorkerFailed: a process could not continue.
        OSError: the results cannot be written.
    """
    with SeriesRunner(plan, folder, "mjlog" if records else None, on_progress) as runner:
        if not sequential or clear_after(plan, runner.rows) is None:
            with contextlib.closing(runner.blocks(workers, ray, one_by_one=sequential)) as blocks:
                for _ in blocks:
                    if sequential and clear_after(plan, runner.rows) is not None:
                        break
        return report_of(
            plan,
            runner.rows,
            sequential=sequential,
            seconds=runner.seconds,
            played=runner.played,
            times=runner.times,
        )


def look(folder: Path, *, sequential: bool = False) -> ArenaReport | None:
    """Report on the results in a folder, finished or not, without playing.

    Args:
        folder: folder of the results.
        sequential: ignore games past the point where one side was clearly better.

    Returns:
        None if no duplicate set is complete.

    Raises:
        ReplayError: there are no results, or they cannot be read.
    """
    plan, rows = read_results(folder, ArenaPlan)
    return report_of(plan, {row.number: row for row in rows}, sequential=sequential)


def report_of(
    plan: ArenaPlan,
    rows: Mapping[int, GameRow],
    *,
    sequential: bool,
    seconds: float = 0.0,
    played: int = 0,
    times: dict[str, float] | None = None,
) -> ArenaReport | None:
    """The report on games by their numbers; see `run` and `learning.arena.report.report`."""
    clear = clear_after(plan, rows) if sequential else None
    # games past the point where the difference was clear do not count
    end = plan.games if clear is None else clear
    return report(
        plan,
        [row for row in rows.values() if row.number < end],
        clear=clear is not None,
        seconds=seconds,
        played=played,
        times=times,
    )


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
