"""Rows of a measurement, each of one game: made in worker processes, kept as they come, made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from game.errors import ReplayError
from game.workers.pool import Done, Work
from learning.matches.store import NumberedRow, ResumablePlan, Store
from learning.runs.progress import Progress
from learning.workers.spread import spread

P = TypeVar("P", bound=ResumablePlan)
R = TypeVar("R", bound=NumberedRow)
S = TypeVar("S")


def measured_rows(
    plan: P,
    kind: type[R],
    count: int,
    folder: Path | None,
    prepare: Callable[[S], Work[int, R]],
    setup: S,
    *,
    what: str,
    workers: int | None,
    quiet: bool,
) -> list[R]:
    """Make the rows that are missing; return all in order.

    Args:
        plan: what is measured.
        kind: type of a row.
        count: number of rows.
        folder: folder of the results; an earlier run in it is resumed. None to keep none.
        prepare: called once in each process, returns the function that makes a row from its number.
        setup: its argument.
        what: name of the measurement, for its progress.
        workers: processes; one per core if None.
        quiet: show no progress.

    Raises:
        ConfigError: another run is in the folder.
        ReplayError: results cannot be read or written.
        WorkerFailed: a process could not continue.
        KeyboardInterrupt: stopped; the rows so far are kept.
    """
    try:
        with Store(plan, kind, folder) as store:
            missing = [number for number in range(count) if number not in store.rows]
            with Progress(f"{what}.progress", what, "games", total=count, quiet=quiet) as progress:
                progress.reach(len(store.rows))
                for _, row in spread(prepare, setup, missing, workers=workers) if missing else ():
                    if not isinstance(row, Done) and store.add(row):
                        progress.advance(1)
            return [store.rows[number] for number in sorted(store.rows)]
    except OSError as exc:
        raise ReplayError(f"{exc.filename or folder}: {exc.strerror or exc}") from exc
    except KeyboardInterrupt:
        where = f"the games so far are in {folder}; give the same command again to resume"
        raise KeyboardInterrupt(f"stopped: {where}" if folder else "stopped; nothing was kept") from None
