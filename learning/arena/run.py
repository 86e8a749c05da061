"""`suzaku arena`: the games of a comparison, until all are played or one side is clearly better."""

from __future__ import annotations

import contextlib
from pathlib import Path

from learning.arena.coverage import EQUAL
from learning.arena.plan import Plan
from learning.arena.report import Report, placements_of, report, whole_sets
from learning.arena.session import Session, Tell
from learning.arena.tally import GameRow
from learning.statistics import first_clear


def run(
    plan: Plan,
    *,
    workers: int | None = None,
    ray: str | None = None,
    folder: Path | None = None,
    records: bool = False,
    sequential: bool = False,
    coverage_runs: int = 0,
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
        coverage_runs: draw so many small runs from the games, and see how many intervals hold 2.5.
        tell: is told of the progress.

    Returns:
        None if not one duplicate set was complete.

    Raises:
        ConfigError: another run lies in the folder, or there is no such cluster.
        WorkerFailed: a process could not go on.
        OSError: the disk does not take it.
    """
    with Session(plan, folder, "mjlog" if records else None, tell) as session:
        clear = _clear(session) if sequential else None
        if clear is None:
            with contextlib.closing(session.blocks(workers, ray)) as blocks:
                for _ in blocks:
                    clear = _clear(session) if sequential else None
                    if clear is not None:
                        break
        # games past the point where the difference was clear do not count
        end = plan.games if clear is None else clear
        return report(
            plan,
            [row for row in session.rows.values() if row.number < end],
            clear=clear is not None,
            coverage_runs=coverage_runs,
            seconds=session.seconds,
            played=session.played,
            times=session.times,
        )


def _clear(session: Session[Plan]) -> int | None:
    """How many games the first whole blocks have, whichever were played first, after which it is clear."""
    plan = session.series
    looks: dict[int, int] = {}
    rows: list[GameRow] = []
    for block in range(plan.blocks):
        if not session.is_whole(block):
            break
        numbers = plan.numbers(block)
        rows += [session.rows[number] for number in numbers]
        looks[len(whole_sets(plan, rows))] = numbers.stop
    if not looks:
        return None
    count = first_clear(placements_of(whole_sets(plan, rows)), EQUAL, sorted(looks))
    return None if count is None else looks[count]
